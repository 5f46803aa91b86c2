// @ts-check
// One gesture, one change. The second click of a double click, a key that is held down, and Enter on a button that took the place of
// another one just now do nothing; buttons with data-again, such as Undo and the arrows of a list, may be pushed quickly.

/** How long a button that got the focus by itself waits for a person to see it, in milliseconds. */
const aMoment = 600;

/** @type {{element: Element|null, at: number}} */
let moved = { element: null, at: 0 };

/** Notes that an element got the focus because another one went away. @param {Element} element */
export const movedTo = (element) => { moved = { element, at: performance.now() }; };

/** Watches the page; it is called once. */
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
