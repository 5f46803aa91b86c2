// @ts-check
// Keeps the focus on the page. When what has the focus goes away, because it was done or another view came, the focus goes to
// what took its place in the list, else to what stands beside it, to the line of the panel, or to the heading; never silently to nowhere.

const usable = ':not(:disabled):not([tabindex="-1"])';

/** The links of the lines of a view. */
const lines = () => [...document.querySelectorAll('.list th a')];

/** Where the focus is: the element, the list whose lines take each other's place, the group of buttons, and the panel.
 * @param {HTMLElement} element */
function placeOf(element) {
	const list = element.closest('tbody, ul, ol'), panel = element.closest('.panel');
	return { element, list, panel, group: element.closest('.actions'), place: list ? [...list.children].findIndex((line) => line.contains(element)) : -1,
		line: panel ? lines().findIndex((line) => line.closest('tr')?.classList.contains('chosen')) : -1 };
}

/** What has the focus next. @param {ReturnType<typeof placeOf>} last @returns {Element|null} */
function nextOf({ element, list, panel, group, place, line }) {
	const entry = list?.isConnected ? list.children[Math.min(place, list.children.length - 1)] : undefined, all = lines();
	if (entry?.matches('[tabindex]')) return entry; // its buttons wait for a person to see it
	return entry?.querySelector(element.tagName + usable) || entry?.querySelector(`button${usable}, a[href], select, input`)
		|| (group?.isConnected && group.querySelector(`button${usable}`)) || (panel?.isConnected && panel.querySelector('h2'))
		|| (line >= 0 && all[Math.min(line, all.length - 1)]) || document.querySelector('#main h1');
}

/** Watches the page; it is called once. */
export function keepFocus() {
	let last = /** @type {ReturnType<typeof placeOf>|null} */ (null);
	addEventListener('focusin', (e) => { last = placeOf(/** @type {HTMLElement} */ (e.target)); });
	const refocus = () => {
		if (!last || document.activeElement !== document.body || document.querySelector('dialog[open]')) return;
		if (last.element.isConnected && !last.element.matches(':disabled') && last.element.checkVisibility()) return;
		const place = nextOf(last);
		if (!(place instanceof HTMLElement)) return;
		if (/^H\d$/.test(place.tagName)) place.tabIndex = -1;
		place.focus();
	};
	new MutationObserver(() => setTimeout(refocus))
		.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled', 'hidden'] });
}
