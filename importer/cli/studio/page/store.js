// @ts-check
// What the page knows: the server's state, what is under way, and what to say to the person. All changes go through here.

import { get, post } from './api.js';
import { computed, signal, useEffect, useLayoutEffect, useRef } from './lib.js';

/** @typedef {import('./types.js').State} State */
/** @typedef {import('./types.js').Operation} Operation */

/** The server's state; null before the first answer. @type {import('./lib.js').Signal<State|null>} */
export const state = signal(/** @type {State|null} */ (null));

/** The state for views, which are drawn only when there is one. */
export const current = () => /** @type {State} */ (state.value);

/** The last sentence for the person, read aloud by screen readers.
 * @type {import('./lib.js').Signal<{kind: 'said'|'refused', text: string, hint?: string}|null>} */
export const notice = signal(/** @type {any} */ (null));

/** There is no news: the server does not answer, it fails, or another one answers at its address. */
export const away = signal(false);

/** The column with a letter. @param {string|undefined} letter */
export const columnAt = (letter) => current().columns.find((c) => c.letter === letter);

/** The target at a path. An activity that was named by its template until the mapping had it is found by its new path too.
 * @param {string|undefined} path */
export const targetAt = (path) => current().targets.find((t) => t.path === path) || current().targets.find((t) => t.byTemplate === path);

/** The target that a place of the mapping belongs to: that place, the one above it, or the first one below it.
 * @param {string|undefined} path */
export const targetNear = (path) => (path ? current().targets.find((t) => `${path}/`.startsWith(t.path + '/'))
	|| current().targets.find((t) => t.path.startsWith(path + '/')) : undefined);

/** @param {string} text */
export function say(text) {
	const isAgain = notice.peek()?.text === text;
	notice.value = { kind: 'said', text: isAgain ? text + '\u00a0' : text }; // what is said again must differ to be read aloud again
}

/** Says why something was refused. @param {any} error @param {string} [what] what was to be done */
export function refuse({ message, hint, code }, what) {
	const text = what ? `Not done: ${what}. ${message[0].toUpperCase()}${message.slice(1)}` : message;
	notice.value = code === 'changed-on-disk' ? null : { kind: 'refused', text, hint }; // the state says that too, and asks
}

/** Takes a state unless a newer one is here already. @param {State} next */
function take(next) {
	const old = state.peek();
	if (!old || next.version > old.version || (next.version === old.version && next.progress >= old.progress)) state.value = next;
}

/** @typedef {{current: {has: boolean, take: () => Promise<boolean>}}} Pending */

/** What has been typed or chosen and is not sent yet. Before something that would leave it out or lose it, such as Save, another view or
 * the end of the page, it is taken in. @type {import('./lib.js').Signal<Pending[]>} */
const waiting = signal([]);

/** Reports whether something is typed that is not sent. */
export const isTyped = computed(() => waiting.value.length > 0);

/** Takes in all that is typed; false when some of it was refused. */
export const takeIn = async () => (await Promise.all(waiting.peek().map((one) => one.current.take()))).every(Boolean);

/** Keeps what an element holds from being lost: when the element goes, it is taken in.
 * @param {boolean} has whether there is something to take in @param {() => Promise<boolean>} take */
export function usePending(has, take) {
	const now = useRef();
	now.current = { has, take };
	useLayoutEffect(() => {
		if (has) waiting.value = [...waiting.peek(), now];
		return () => { waiting.value = waiting.peek().filter((one) => one !== now); };
	}, [has]);
	useEffect(() => () => { if (now.current.has) now.current.take(); }, []);
}

/** How many changes are on their way. */
export const sending = signal(0);

/** The change before; each waits for it, so that they arrive in order. */
let before = Promise.resolve(true);

/** Asks the server for a change. What was made for an earlier state than the present one is refused by the server.
 * @param {string} path @param {object|(() => object)} body a function makes it from the state at the time of sending
 * @param {string} [done] what to say then @param {string} [what] its name when it is refused @returns {Promise<boolean>} whether it was done */
function submit(path, body, done, what) {
	const { version } = current();
	sending.value++;
	before = before.then(async () => {
		try {
			take(await post(path, typeof body === 'function' ? { version: current().version, ...body() } : { version, ...body }));
			if (done) say(done);
			else notice.value = null;
			return true;
		} catch (/** @type {any} */ error) {
			if (error.state) take(error.state);
			refuse(error, what);
			return false;
		} finally {
			sending.value--;
		}
	});
	return before;
}

/** @param {string} label what the history calls it
 * @param {Operation[]|(() => Operation[])} operations a function makes them at the time of sending */
export const patch = (label, operations) => submit('patch',
	Array.isArray(operations) ? { label, operations } : () => ({ label, operations: operations() }), label, label);

/** @param {{version: number, text: string}} typed the whole file, and the version that it was made from */
export const replaceText = (typed) => submit('text', { ...typed }, 'The file is taken as you wrote it.', 'the text of the file');

/** Goes back to a place in the history, or forward again. Before it goes back it takes in what is being typed, which is a change too.
 * @param {(at: number) => number} to where, from where the history is at the time of sending @param {string} done */
const travel = (to, done) => submit('history', () => ({ to: to(current().mapping.at) }), done);
export const undo = async () => await takeIn() && travel((at) => at - 1, 'Undone.');
export const redo = () => travel((at) => at + 1, 'Done again.');
/** @param {number} n */
export const goTo = async (n) => (n > current().mapping.at ? travel(() => n, 'Done again.') : await takeIn() && travel(() => n, 'Undone.'));

/** Answers a question of a first mapping: its comment goes. @param {import('./types.js').Question} question */
export const decide = ({ line }) => submit('decide', { line }, 'Decided.');

/** Writes the mapping to its file, with what is being typed. @param {boolean} [overwrite] also when another program changed the file */
export const save = async (overwrite = false) => await takeIn()
	&& submit('save', () => ({ overwrite }), `Saved to ${state.peek()?.mapping.path}.`, 'Save');

/** Takes the file as it is on the disk. */
export const reload = () => submit('reload', () => ({}), 'The file is read from the disk. Undo brings back what was here.');

/** @param {string} column its letter @param {boolean} ignored */
export const ignore = (column, ignored) => submit('ignore', { column, ignored },
	ignored ? `Column ${column} is left out on purpose.` : `Column ${column} is open again.`);

/** @param {'dry-run'|'sandbox'} kind */
export const startJob = (kind) => submit('job', () => ({ kind }));

/** Stops the job under way. */
export const cancelJob = () => submit('job/cancel', () => ({}), 'Stopped.');

/** Follows the server's state for as long as the page is open, which keeps the session; less often while the server is away. */
export async function follow() {
	addEventListener('beforeunload', (e) => { if (away.value && isTyped.value) e.preventDefault(); }); // the browser asks whether to leave
	addEventListener('pagehide', () => { takeIn(); });
	for (;;) {
		const now = state.peek();
		try {
			const next = await get('state', { since: now ? `${now.version}.${now.progress}` : undefined });
			if (next) take(next);
			away.value = false;
		} catch (error) {
			if (!now) refuse(error);
			away.value = true;
		}
		await new Promise((done) => setTimeout(done, away.value ? 2000 : 250)); // a browser lets hidden pages wait a second by itself
	}
}
