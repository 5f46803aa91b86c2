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

/** The words of a kind of mistake. @param {{code: string, message?: string}} trouble */
export const mistake = (trouble) => trouble.message || trouble.code.replaceAll('-', ' ');

/** A question of a first mapping in words for a page; its text is written for those who edit the file. @param {string} text */
export const question = (text) => text.replace('If not, add values: {TEXT: OPTION}', 'If not, say what each text means')
	.replace('That template gets status: Open and no attributes', 'That activity becomes Open, without values');

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
