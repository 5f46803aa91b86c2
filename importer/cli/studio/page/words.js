// @ts-check
// Numbers and names as a person reads them.

const english = new Intl.NumberFormat('en-GB');

/** 4981 → “4,981”. @param {number|undefined} n */
export const number = (n) => english.format(n || 0);

/** 1, “row” → “1 row”; 2 → “2 rows”. @param {number|undefined} n @param {string} one @param {string} [many] */
export const count = (n, one, many = one + 's') => `${number(n)} ${n === 1 ? one : many}`;

/** A part of a whole: “99%”, “under 1%”, “0%”; never 100% when something is missing. @param {number} part @param {number} whole */
export function percent(part, whole) {
	if (!whole || !part) return '0%';
	if (part === whole) return '100%';
	const n = Math.round((part / whole) * 100);
	return n < 1 ? '<1%' : n > 99 ? '>99%' : `${n}%`;
}

/** The words of a kind of mistake. @param {{code: string, message?: string}} one */
export const mistake = (one) => one.message || one.code.replaceAll('-', ' ');

/** What the cells of a column hold. */
export const kinds = /** @type {Record<string, string>} */ ({ date: 'dates', number: 'numbers', text: 'text', bool: 'yes or no', mixed: 'mixed', empty: 'nothing' });

/** How sure a suggestion is. */
export const certainties = /** @type {Record<string, string>} */ ({
	same: 'same name', normalised: 'same name, written differently', synonym: 'another word for it', fuzzy: 'similar, please confirm',
});

/** The groups of targets, in the order in which they are sent. */
export const groups = /** @type {[string, string][]} */ ([
	['key', 'Who is who'], ['lookup', 'Finding clients that are known'], ['client', 'The client'], ['contacts', 'Further people'], ['claims', 'Claims'],
	['workflow', 'Workflow'], ['activity', 'Activities'], ['settings', 'How the sheet is read'],
]);

/** The names of types, for a person who knows the data. */
export const types = /** @type {Record<string, string>} */ ({
	Text: 'Text', TextArea: 'Long text', DropDown: 'One of a list', Checkbox: 'Yes or no', Date: 'Date', DateTime: 'Date and time',
	Number: 'Number', Currency: 'Amount', Email: 'E-mail', Phone: 'Phone',
});

/** @param {string|undefined} type */
export const typeName = (type) => (type ? types[type] || type : '');

/** What can be chosen, by the last part of a target's path: the words for it, and what it does.
 * @type {Record<string, Record<string, [string, string]>>} */
const choices = {
	existing: {
		reuse: ['Take the known client', 'No client is created twice; claims and activities are added to the client that is there.'],
		skip: ['Leave them out', 'Nothing is sent for a client whom the service knows already.'],
		fail: ['Report them', 'Nothing is sent for them, and the run ends with a mistake for each.'],
		create: ['Create them without looking', 'The service is not asked; a known client may be there twice afterwards.'],
	},
	mode: {
		first: ['Only without an e-mail address', ''],
		either: ['Also when the e-mail address is not found', ''],
		both: ['Always', 'Where the two disagree, nothing is sent for the client.'],
	},
	existing_activities: {
		send: ['Send them', 'A known client gets the activities that a new client gets.'],
		skip: ['Leave them out', 'A known client gets no activities of the client; claims, and what belongs to them, are sent.'],
	},
	status: {
		Submitted: ['Submitted', 'Sent as done, with the values of the sheet. This is usual.'],
		Accepted: ['Accepted', 'Sent as done and already agreed to.'],
		Open: ['Open', 'Sent without values: the client fills it in, and goes on here.'],
	},
	on: {
		client: ['Once for each client', ''],
		claim: ['Once for each claim', ''],
	},
	encoding: {
		'utf-8': ['Usual (UTF-8)', ''],
		'windows-1252': ['Older Windows programs (windows-1252)', 'When letters such as é or £ look wrong.'],
	},
	delimiter: { ',': ['A comma', ''], ';': ['A semicolon', ''], tab: ['A tab', ''] },
	api: {
		v1: ['Version 1', 'Clients and activities, without claims.'],
		v2: ['Version 2', 'Clients, claims and activities.'],
	},
};

/** What is done when nothing is chosen, by the last part of a target's path. @type {Record<string, string>} */
const usual = { existing: 'reuse', mode: 'first', existing_activities: 'send', status: 'Submitted', on: 'client', encoding: 'utf-8' };

/** The choice that counts while nothing is chosen; undefined for none. @param {{path: string, status?: string}} target */
export const usualChoice = (target) => {
	const part = target.path.split('/').pop() || '';
	return part === 'status' && target.status !== 'BackFilled' ? undefined : usual[part]; // “Where clients resume” says it otherwise
};

/** The words for a choice, and what it does. @param {{path: string}} target @param {string} choice @returns {[string, string]} */
export function choiceWords(target, choice) {
	const part = target.path.split('/').pop() || '';
	return choices[part]?.[choice] || (part === 'on' ? [`Once for each “${choice}”`, ''] : [choice, '']);
}

/** What a run counted: one of it, and several. @type {Record<string, [string, string]>} */
const counted = {
	total: ['in all', 'in all'], invalid: ['cannot be used', 'cannot be used'], skipped: ['left out', 'left out'], notStarted: ['not started', 'not started'],
	client: ['client', 'clients'], claim: ['claim', 'claims'], activity: ['activity', 'activities'], link: ['link', 'links'], contact: ['contact', 'contacts'],
	lookup: ['question for a known client', 'questions for known clients'], templates: ['question for templates', 'questions for templates'],
	rows: ['Rows', 'Rows'], clients: ['Clients', 'Clients'], requests: ['Calls of the service', 'Calls of the service'],
};

/** A name of the program's in words. @param {string} name @param {number} [n] how many */
export const plainWords = (name, n = 2) => counted[name]?.[n === 1 ? 0 : 1] || name.replaceAll('_', ' ').replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`);

const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** A day as it is sent, as a person writes it; other texts as they are. @param {string} text */
export const dayIn = (text) => (/^\d{4}-\d\d-\d\d(T00:00:00(\.0+)?Z)?$/.test(text) && !Number.isNaN(Date.parse(text)) ? days.format(new Date(text)) : text);
