// @ts-check
// The rows of the sheet, asked for a hundred at a time as they are looked at. What is far away is forgotten.

import { get } from './api.js';

/** @typedef {import('./types.js').Problem} Problem */
/** @typedef {{row: number, table: number, skipped?: string, cells: string[], problems: Problem[], warnings: Problem[]}} Row */

const pageSize = 100, mostPages = 40;

/** The rows of one filter, of one version of the mapping. */
export class Pages {
	/** How many rows the filter shows; null before the first answer. @type {number|null} */
	total = null;
	/** @type {Error|null} */
	error = null;
	/** @type {Map<number, Row[]|null>} null is under way */
	pages = new Map();
	control = new AbortController();

	/** @param {Record<string, string|undefined>} filter show, column and code @param {() => void} changed is called when rows have come */
	constructor(filter, changed) {
		this.filter = filter;
		this.changed = changed;
	}

	/** The row at a place, if it is here. @param {number} at @returns {Row|undefined} */
	row(at) {
		return this.pages.get(Math.floor(at / pageSize))?.[at % pageSize];
	}

	/** Asks for what is missing between two places. @param {number} from @param {number} to */
	want(from, to) {
		const last = Math.floor(Math.max(0, Math.min(to, (this.total ?? Infinity) - 1)) / pageSize);
		for (let n = Math.floor(Math.max(0, from) / pageSize); n <= last; n++) if (!this.pages.has(n)) this.load(n);
	}

	/** @param {number} n */
	async load(n) {
		this.pages.set(n, null);
		try {
			const answer = await get('rows', { ...this.filter, from: n * pageSize, count: pageSize }, this.control.signal);
			this.total = answer.total;
			this.pages.delete(n);
			this.pages.set(n, answer.rows);
			for (const old of this.pages.keys()) if (this.pages.size > mostPages) this.pages.delete(old);
		} catch (error) {
			this.pages.delete(n);
			if (this.control.signal.aborted) return;
			this.error = /** @type {Error} */ (error);
		}
		this.changed();
	}

	/** Finds the first row from a row on that find shows too: its place in this filter, else the last place, and the row or null.
	 * @param {string} find @param {{table: number, row: number}} from
	 * @returns {Promise<{place: number, row: Row|null}>} */
	find(find, { table, row }) {
		return get('place', { ...this.filter, find, table, row }, this.control.signal);
	}
}
