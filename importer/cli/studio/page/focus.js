// @ts-check
// Keeps the focus on the page. When what has the focus goes away, because it was done or another view came, the focus goes to
// what took its place in the list, else to what stands beside it, to the line of the panel, or to the heading; never silently to nowhere.

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
		moved = { element: place, at: performance.now() };
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

/** How long a button that got the focus by itself waits for a person to see it, in milliseconds. */
const aMoment = 600;

/** What got the focus because another element went away, and when. @type {{element: Element|null, at: number}} */
let moved = { element: null, at: 0 };

/** One gesture, one change. The second click of a double click, a key that is held down, and Enter on a button that took the place of
 * another one just now do nothing; buttons with data-again, such as Undo and the arrows of a list, may be pushed quickly. */
export function oneGesture() {
	const button = (/** @type {Event} */ e) => (e.target instanceof Element ? e.target.closest('button:not([data-again]), summary') : null);
	const stop = (/** @type {Event} */ e) => { e.preventDefault(); e.stopImmediatePropagation(); };
	addEventListener('click', (e) => { if (e.detail > 1 && button(e)) stop(e); }, true);
	addEventListener('keydown', (e) => {
		const at = button(e);
		if (!at || (e.key !== 'Enter' && e.key !== ' ')) return;
		if (e.repeat || (at === moved.element && performance.now() - moved.at < aMoment)) stop(e);
	}, true);
}
