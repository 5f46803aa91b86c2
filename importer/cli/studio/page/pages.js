// @ts-check
// The rows of the sheet, asked for a hundred at a time as they are looked at. What is far away is forgotten.

import { get } from './api.js';

/** @typedef {{column: string, code: string, message: string, hint?: string}} Mark what is wrong with a cell, or worth a look; column is '' for the row */
/** @typedef {{row: number, table: number, client: number, skipped?: string, cells: string[], problems: Mark[], warnings: Mark[]}} Row */

const pageSize = 100;
const mostPages = 40;

/** The rows of one filter, of one version of the mapping. */
export class Pages {
	/**
	 * @param {Record<string, string|undefined>} filter show, column and code
	 * @param {() => void} changed is called when rows have come
	 */
	constructor(filter, changed) {
		this.filter = filter;
		this.changed = changed;
		/** How many rows the filter shows; null before the first answer. @type {number|null} */
		this.total = null;
		/** @type {Error|null} */
		this.error = null;
		/** @type {Map<number, Row[]|null>} null is under way */
		this.pages = new Map();
		this.control = new AbortController();
	}

	/** The row at a place, if it is here. @param {number} at @returns {Row|undefined} */
	row(at) {
		return this.pages.get(Math.floor(at / pageSize))?.[at % pageSize];
	}

	/** Asks for what is missing between two places. @param {number} from @param {number} to */
	want(from, to) {
		for (let n = Math.floor(Math.max(0, from) / pageSize); n <= Math.floor(Math.max(0, to) / pageSize); n++) {
			if (!this.pages.has(n) && (this.total === null || n * pageSize < this.total || n === 0)) this.load(n);
		}
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

	/** The row at a place, asked for if it is not here. @param {number} at @returns {Promise<Row|undefined>} */
	async at(at) {
		return this.row(at) || (await get('rows', { ...this.filter, from: at, count: 1 }, this.control.signal)).rows[0];
	}

	/**
	 * Finds the first row of a filter that is not before a row, by halves. Rows are told apart by their table too: several sheets have the same numbers.
	 * @param {Record<string, string|undefined>} filter
	 * @param {{table: number, row: number}} from
	 * @returns {Promise<{row: Row, place: number}|null>} the row and its place in the filter; null for none
	 */
	async first(filter, from) {
		const ask = (/** @type {number} */ place) => get('rows', { ...filter, from: place, count: 1 }, this.control.signal);
		const start = await ask(0);
		/** @type {{row: Row, place: number}|null} */
		let found = null;
		for (let low = 0, high = start.total; low < high;) {
			const middle = Math.floor((low + high) / 2);
			const [there] = (middle ? await ask(middle) : start).rows;
			if (there && (there.table > from.table || (there.table === from.table && there.row >= from.row))) found = { row: there, place: high = middle };
			else low = middle + 1;
		}
		return found;
	}

	/**
	 * Finds the next row that needs a look below a row: with errors, or in the rows with a warning the next of these.
	 * @param {Row|undefined} row undefined for before the first
	 * @returns {Promise<{row: Row, place: number}|null>} the row and its place in this filter
	 */
	async next(row) {
		const show = this.filter.show === 'warned' ? 'warned' : 'errors';
		const found = await this.first({ ...this.filter, show }, row ? { table: row.table, row: row.row + 1 } : { table: 0, row: 0 });
		return found && this.filter.show !== show ? this.first(this.filter, found.row) : found;
	}

	/** The place of a row in this filter; the last one when it is below all. @param {{table: number, row: number}} row */
	async place(row) {
		return (await this.first(this.filter, row))?.place ?? Math.max(0, (this.total || 1) - 1);
	}

	/** Stops what is under way. */
	close() {
		this.control.abort();
	}
}
