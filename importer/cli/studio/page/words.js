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

/** The names of types, for a person who knows the data. @type {Record<string, string>} */
export const types = {
	Text: 'Text', TextArea: 'Long text', DropDown: 'One of a list', Checkbox: 'Yes or no', Date: 'Date', DateTime: 'Date and time',
	Number: 'Number', Currency: 'Amount', Email: 'E-mail', Phone: 'Phone',
};

/** @param {string|undefined} type */
export const typeName = (type) => types[type || ''] || type || '';

const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** A day as it is sent, as a person writes it; other texts as they are. @param {string} text */
export const dayIn = (text) => (/^\d{4}-\d\d-\d\d(T00:00:00(\.0+)?Z)?$/.test(text) && !Number.isNaN(Date.parse(text))
	? days.format(new Date(text)) : text);
