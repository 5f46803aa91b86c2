// @ts-check
// Keeps the focus on the page. When what has the focus goes away, because it was done or another view came, the focus goes to
// what took its place in the list, else to what stands beside it, to the line of the panel, or to the heading; never silently to nowhere.

import { movedTo } from './gesture.js';

/** Lists whose lines take each other's place. */
const lists = 'tbody, ul, ol';

const usable = ':not(:disabled):not([tabindex="-1"])';

/** Where the focus was last.
 * @typedef {{element: HTMLElement, list: Element|null, place: number, group: Element|null, panel: Element|null, line: number}} Place */

/** Watches the page; it is called once. */
export function keepFocus() {
	/** @type {Place|null} */
	let last = null;
	addEventListener('focusin', (e) => { last = placeOf(/** @type {HTMLElement} */ (e.target)); });
	const refocus = () => {
		if (!last || document.activeElement !== document.body || document.querySelector('dialog[open]')) return;
		if (last.element.isConnected && !last.element.matches(':disabled') && last.element.checkVisibility()) return;
		const place = nextOf(last);
		if (!(place instanceof HTMLElement)) return;
		if (/^H\d$/.test(place.tagName)) place.tabIndex = -1;
		place.focus();
		movedTo(place);
	};
	new MutationObserver(() => setTimeout(refocus)).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled', 'hidden'] });
}

/** @param {HTMLElement} element @returns {Place} */
function placeOf(element) {
	const list = element.closest(lists), panel = element.closest('.panel');
	return {
		element, list, place: list ? [...list.children].findIndex((line) => line.contains(element)) : -1, group: element.closest('.actions'), panel,
		line: panel ? lines().findIndex((line) => line.closest('tr')?.classList.contains('chosen')) : -1,
	};
}

/** The links of the lines of a view. */
const lines = () => [...document.querySelectorAll('.list th a')];

/** What has the focus next. @param {Place} last @returns {Element|null|undefined} */
function nextOf(last) {
	const line = last.list?.isConnected ? last.list.children[Math.min(last.place, last.list.children.length - 1)] : null;
	const inLine = line?.querySelector(last.element.tagName + usable) || line?.querySelector(`button${usable}, a[href], select, input`);
	if (inLine) return inLine;
	const beside = last.group?.isConnected && last.group.querySelector(`button${usable}`);
	if (beside) return beside;
	if (last.panel?.isConnected) return last.panel.querySelector('h2');
	const all = lines();
	return last.line >= 0 && all[Math.min(last.line, all.length - 1)] || document.querySelector('#main h1');
}
