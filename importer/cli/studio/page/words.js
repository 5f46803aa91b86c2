// @ts-check
// Numbers and names as a person reads them.

const english = new Intl.NumberFormat('en-GB');

/** 4981 → “4,981”. @param {number|undefined} n */
export const number = (n) => english.format(n || 0);

/** 1, “row” → “1 row”; 2 → “2 rows”. @param {number|undefined} n @param {string} one */
export const count = (n, one) => `${number(n)} ${one}${n === 1 ? '' : 's'}`;

/** A part of a whole: “99%”, “<1%”, “0%”; never 100% when something is missing. @param {number} part @param {number} whole */
export function percent(part, whole) {
	const n = whole ? (part / whole) * 100 : 0;
	return n > 0 && n < 1 ? '<1%' : n > 99 && n < 100 ? '>99%' : Math.round(n) + '%';
}

/** The words of a kind of mistake. @param {{code: string, message?: string}} one */
export const mistake = (one) => one.message || one.code.replaceAll('-', ' ');

/** How sure a suggestion is. @type {Record<string, string>} */
export const certainties = {
	same: 'same name', normalised: 'same name, written differently', synonym: 'another word for it', fuzzy: 'similar, please confirm',
};

/** The groups of targets, in the order in which they are sent. @type {[string, string][]} */
export const groups = [
	['key', 'Who is who'], ['lookup', 'Finding clients that are known'], ['client', 'The client'], ['contacts', 'Further people'], ['claims', 'Claims'],
	['workflow', 'Workflow'], ['activity', 'Activities'], ['settings', 'How the sheet is read'],
];

/** The names of types, for a person who knows the data. @type {Record<string, string>} */
export const types = {
	Text: 'Text', TextArea: 'Long text', DropDown: 'One of a list', Checkbox: 'Yes or no', Date: 'Date', DateTime: 'Date and time',
	Number: 'Number', Currency: 'Amount', Email: 'E-mail', Phone: 'Phone',
};

/** @param {string|undefined} type */
export const typeName = (type) => types[type || ''] || type || '';

/** What can be chosen, by the last part of a target's path: the words for it, and what it does. What is usual is done when nothing is chosen.
 * @type {Record<string, Record<string, [string, string]>>} */
const choices = {
	existing: {
		reuse: ['Take the known client', 'No client is created twice; claims and activities are added to the client that is there. This is usual.'],
		skip: ['Leave them out', 'Nothing is sent for a client whom the service knows already.'],
		fail: ['Report them', 'Nothing is sent for them, and the run ends with a mistake for each.'],
		create: ['Create them without looking', 'The service is not asked; a known client may be there twice afterwards.'],
	},
	mode: {
		first: ['Only without an e-mail address', 'This is usual.'],
		either: ['Also when the e-mail address is not found', ''],
		both: ['Always', 'Where the two disagree, nothing is sent for the client.'],
	},
	existing_activities: {
		send: ['Send them', 'A known client gets the activities that a new client gets. This is usual.'],
		skip: ['Leave them out', 'A known client gets no activities of the client; claims, and what belongs to them, are sent.'],
	},
	status: {
		Submitted: ['Submitted', 'Sent as done, with the values of the sheet. This is usual.'],
		Accepted: ['Accepted', 'Sent as done and already agreed to.'],
		Open: ['Open', 'Sent without values: the client fills it in, and goes on here.'],
	},
	on: { client: ['Once for each client', 'This is usual.'], claim: ['Once for each claim', ''] },
	encoding: {
		'utf-8': ['Usual (UTF-8)', ''],
		'windows-1252': ['Older Windows programs (windows-1252)', 'When letters such as é or £ look wrong.'],
	},
	delimiter: { ',': ['A comma', ''], ';': ['A semicolon', ''], tab: ['A tab', ''] },
	api: { v1: ['Version 1', 'Clients and activities, without claims.'], v2: ['Version 2', 'Clients, claims and activities.'] },
};

/** What can be chosen for a target, if it is one of few. @param {{path: string, options: string[]|null}} target */
export const choicesOf = ({ path, options }) => options || Object.keys(choices[path.split('/').pop() || ''] || {});

/** The words for a choice, and what it does. @param {{path: string}} target @param {string} choice @returns {[string, string]} */
export function choiceWords(target, choice) {
	const key = target.path.split('/').pop() || '';
	return choices[key]?.[choice] || [key === 'on' ? `Once for each “${choice}”` : choice, ''];
}

const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** A day as it is sent, as a person writes it; other texts as they are. @param {string} text */
export const dayIn = (text) => (/^\d{4}-\d\d-\d\d(T00:00:00(\.0+)?Z)?$/.test(text) && !Number.isNaN(Date.parse(text))
	? days.format(new Date(text)) : text);
