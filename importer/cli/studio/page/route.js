// @ts-check
// Where the person is: the part of the address behind “#”, so that Back, Forward and bookmarks work.
// “#targets?at=/client/fields/email” is the view “targets” with one choice.

import { search, signal } from './lib.js';

/** @typedef {Record<string, string|number|undefined>} Query empty members are left out of an address */

/** @type {import('./lib.js').Signal<{view: string, query: Record<string, string>}>} */
export const route = signal(read());

addEventListener('hashchange', () => { route.value = read(); });

function read() {
	const [view, query] = location.hash.slice(1).split('?');
	return { view: view || 'columns', query: Object.fromEntries(new URLSearchParams(query || '')) };
}

/** The address of a view. @param {string} view @param {Query} [query] */
export function link(view, query = {}) {
	const tail = search(query);
	return '#' + view + (tail && '?' + tail);
}

/** Goes to a view. @param {string} view @param {Query} [query] */
export const go = (view, query) => { location.hash = link(view, query); };

/** Changes the choice without a new step for Back. @param {string} view @param {Query} query */
export function stay(view, query) {
	history.replaceState(null, '', link(view, query));
	route.value = read();
}
