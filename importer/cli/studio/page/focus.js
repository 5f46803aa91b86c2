// @ts-check
// Keeps the focus on the page. When what has the focus goes away, because it was done or another view came, the focus goes to
// what took its place in the list, else to the heading of the panel or of the view; never silently to nowhere.

/** Lists whose lines take each other's place. */
const lists = 'tbody, ul, ol';

/** Watches the page; it is called once. */
export function keepFocus() {
	/** @type {{element: HTMLElement, list: Element|null, place: number, panel: Element|null}|null} */
	let last = null;
	addEventListener('focusin', (e) => {
		const element = /** @type {HTMLElement} */ (e.target);
		const list = element.closest(lists);
		const place = list ? [...list.children].findIndex((line) => line.contains(element)) : -1;
		last = { element, list, place, panel: element.closest('.panel') };
	});
	const mend = () => {
		if (!last || document.activeElement !== document.body || document.querySelector('dialog[open]')) return;
		if (last.element.isConnected && !last.element.matches(':disabled')) return;
		const line = last.list?.isConnected ? last.list.children[Math.min(last.place, last.list.children.length - 1)] : null;
		const place = line?.querySelector(last.element.tagName + ':not(:disabled)')
			|| line?.querySelector('button:not(:disabled), a[href], select, input') || last.panel?.isConnected && last.panel.querySelector('h2')
			|| document.querySelector('#main h1');
		if (!(place instanceof HTMLElement)) return;
		if (/^H\d$/.test(place.tagName)) place.tabIndex = -1;
		place.focus();
	};
	new MutationObserver(() => setTimeout(mend)).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
}
