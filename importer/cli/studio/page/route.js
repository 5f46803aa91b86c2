// @ts-check
// Where the person is: the part of the address behind “#”, so that Back, Forward and bookmarks work.
// “#targets?at=/client/fields/email” is the view “targets” with one choice.

import { signal } from './lib.js';

/** @typedef {{view: string, query: Record<string, string>}} Route */

/** @type {import('./lib.js').Signal<Route>} */
export const route = signal(read());

addEventListener('hashchange', () => { route.value = read(); });

/** @returns {Route} */
function read() {
	const [view, query] = location.hash.slice(1).split('?');
	return { view: view || 'columns', query: Object.fromEntries(new URLSearchParams(query || '')) };
}

/** The address of a view.
 * @param {string} view
 * @param {Record<string, string|number|undefined>} [query] undefined and empty members are left out */
export function link(view, query = {}) {
	const search = new URLSearchParams();
	for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') search.set(name, String(value));
	const tail = search.toString();
	return '#' + view + (tail && '?' + tail);
}

/** Goes to a view. @param {string} view @param {Record<string, string|number|undefined>} [query] */
export function go(view, query) {
	location.hash = link(view, query);
}

/** Changes the choice without a new step for Back. @param {string} view @param {Record<string, string|number|undefined>} query */
export function stay(view, query) {
	history.replaceState(null, '', link(view, query));
	route.value = read();
}
