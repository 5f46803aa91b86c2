// @ts-check
// Talks to the server. Every answer is JSON; every refusal becomes an ApiError with words for a person.

/** A refusal of the server, or no answer from it. */
export class ApiError extends Error {
	/** @param {number} status the HTTP status, 0 when nothing answered @param {{code?: string, message: string, hint?: string}} error
	 * @param {import('./types.js').State} [state] the present state, when the request was made for an older version */
	constructor(status, { code = '', message, hint = '' }, state) {
		super(message);
		this.status = status;
		this.code = code;
		this.hint = hint;
		this.state = state;
	}
}

/** Asks for something; null when the server has nothing new. @param {string} path below /api/
 * @param {Record<string, string|number|undefined>} [query] undefined members are left out @param {AbortSignal} [signal] @returns {Promise<any>} */
export function get(path, query = {}, signal) {
	const members = Object.entries(query).filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)]);
	return ask(`/api/${path}?${new URLSearchParams(members)}`, { signal });
}

/** How many characters a browser sends surely for a page that is closed. */
const mostKept = 20_000;

/** Sends something; also when the page is being closed. @param {string} path below /api/ @param {object} body @param {AbortSignal} [signal] @returns {Promise<any>} */
export function post(path, body, signal) {
	const text = JSON.stringify(body);
	return ask('/api/' + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text, signal, keepalive: text.length < mostKept });
}

/** How long an answer may take, in milliseconds. */
const longest = 60_000;

const isAway = { code: 'away', message: 'Claimsheet does not answer.', hint: 'Look at the window in which you started it; start it again if it has ended.' };

/** What a refusal without words of its own means. @param {number} status */
const plain = (status) => (status === 413 ? { message: 'this is more than Claimsheet takes at once', hint: 'nothing was changed; do it in smaller parts' }
	: { message: `Claimsheet could not do this (${status})`, hint: 'what you see here may not be saved; look at the window in which you started it' });

/** @param {string} url @param {RequestInit} request */
async function ask(url, request) {
	const { signal } = request;
	let response, body;
	try {
		const timeout = AbortSignal.timeout(longest);
		response = await fetch(url, { ...request, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
		if (response.status === 204) return null;
		const text = await response.text();
		body = response.ok || text.startsWith('{') ? JSON.parse(text) : null; // an answer that breaks off is none
	} catch (cause) {
		if (signal?.aborted) throw cause;
		throw new ApiError(0, isAway);
	}
	if (!response.ok) throw new ApiError(response.status, body?.error?.message ? body.error : plain(response.status), body?.state);
	return body;
}
