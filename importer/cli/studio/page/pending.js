// @ts-check
// What has been typed or chosen and is not sent yet. Before something that would leave it out or lose it, such as Save, another view or
// the end of the page, it is taken in.

import { computed, signal, useEffect, useLayoutEffect, useRef } from './lib.js';

/** @typedef {{current: {has: boolean, take: () => Promise<boolean>}}} Pending */

/** What waits. @type {import('./lib.js').Signal<Set<Pending>>} */
const waiting = signal(new Set());

/** Reports whether something is typed that is not sent. */
export const isTyped = computed(() => waiting.value.size > 0);

/** Takes in all that is typed; false when some of it was refused. */
export const takeIn = async () => (await Promise.all([...waiting.peek()].map((one) => one.current.take()))).every(Boolean);

/** @param {Pending} one @param {boolean} has */
function note(one, has) {
	const others = [...waiting.peek()].filter((other) => other !== one);
	waiting.value = new Set(has ? [...others, one] : others);
}

/** Keeps what an element holds from being lost: when the element goes, it is taken in.
 * @param {boolean} has whether there is something to take in @param {() => Promise<boolean>} take */
export function usePending(has, take) {
	const now = useRef();
	now.current = { has, take };
	useLayoutEffect(() => { note(now, has); }, [has]);
	useEffect(() => () => {
		note(now, false);
		if (now.current.has) now.current.take();
	}, []);
}
