// @ts-check
// What has been typed or chosen and is not sent yet. Before something that would leave it out or lose it, such as Save, another view or
// the end of the page, it is taken in.

import { computed, signal, useEffect, useLayoutEffect, useRef } from './lib.js';

/** What takes in each thing that waits.
 * @type {import('./lib.js').Signal<Map<object, () => Promise<boolean>>>} */
const waiting = signal(new Map());

/** Reports whether something is typed that is not sent. */
export const isTyped = computed(() => waiting.value.size > 0);

/** Takes in all that is typed; false when some of it was refused. @returns {Promise<boolean>} */
export async function takeIn() {
	const done = await Promise.all([...waiting.peek().values()].map((take) => take()));
	return done.every(Boolean);
}

/** @param {object} key @param {(() => Promise<boolean>)|null} take */
function note(key, take) {
	const next = new Map(waiting.peek());
	next.delete(key);
	if (take) next.set(key, take);
	if (take || waiting.peek().has(key)) waiting.value = next;
}

/** Keeps what an element holds from being lost: when the element goes, it is taken in.
 * @param {boolean} has whether there is something to take in
 * @param {() => Promise<boolean>} take */
export function usePending(has, take) {
	const now = useRef();
	now.current = { has, take };
	useLayoutEffect(() => { note(now, has ? () => now.current.take() : null); }, [has]);
	useEffect(() => () => {
		note(now, null);
		if (now.current.has) now.current.take();
	}, []);
}
