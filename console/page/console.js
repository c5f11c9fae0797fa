import { AuthError, createAuthClient } from "./client.js";
/** @throws Error when the page has no element with that id. */
const byId = (id) => {
	const found = document.getElementById(id);
	if (found === null) throw new Error(`The page has no #${id}.`);
	return found;
};
/** A new element. Strings become text, never markup. */
const make = (tag, properties, ...children) => {
	const element = Object.assign(document.createElement(tag), properties);
	element.append(...children);
	return element;
};
/** Shows the result of an action in the live region. A new element is announced even if its text is the same. */
const say = (text, className = "") => byId("status").replaceChildren(make("span", { className }, text));
/** Says whether it worked: browsers offer the clipboard to https and localhost only. */
const copy = async (text) => {
	try {
		await navigator.clipboard.writeText(text);
		say("Copied.");
	} catch {
		say("The browser does not allow to copy.", "bad");
	}
};
/** Runs the action when the button is clicked. */
const onClick = (button, action) => button.addEventListener("click", () => {
	run(button, action).catch(showError);
});
const BASE = new URL(".", import.meta.url).pathname;
/**
* Whether the user has asked for this request: a button that is busy names it in `data-sends`, such as `GET /users/me`. Whatever
* else is sent meanwhile, a list or a renewal, the console sends by itself.
*/
const isAskedFor = ({ method, url }) => {
	const request = `${method} /${new URL(url).pathname.slice(BASE.length)}`;
	return [...document.querySelectorAll("[aria-busy=true]")].some(({ dataset }) => dataset.sends === request);
};
/** One run at a time. The element is not disabled, since it would lose the focus. */
const run = async (element, action) => {
	if (element.ariaBusy === "true") return;
	element.ariaBusy = "true";
	await action().finally(() => {
		element.ariaBusy = "false";
	});
};
const showError = (error) => {
	if (!(error instanceof AuthError)) {
		say(String(error), "bad");
		return;
	}
	const { code, message, retryAfter } = error;
	say([
		`${code}:`,
		message,
		...retryAfter === null ? [] : [`Try again in ${retryAfter} s.`]
	].join(" "), "bad");
};
/** `fetch` that reports what it has sent and received. */
const watchedFetch = (report) => async (input, init) => {
	const request = new Request(input, init);
	const copy = request.clone();
	const start = performance.now();
	const response = await fetch(request).catch(async (error) => {
		report({
			...await sentBy(copy),
			...UNANSWERED,
			duration: performance.now() - start,
			answer: String(error)
		});
		throw error;
	});
	const duration = performance.now() - start;
	const answer = parsed(await response.clone().text());
	report({
		...await sentBy(copy),
		status: response.status,
		code: answer?.code ?? null,
		requestId: response.headers.get("svc-request-id"),
		duration,
		answer
	});
	return response;
};
const UNANSWERED = {
	status: null,
	code: null,
	requestId: null
};
const sentBy = async (request) => ({
	method: request.method,
	url: request.url,
	authorization: request.headers.get("Authorization"),
	body: await request.text() || null
});
const parsed = (text) => {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
};
/** A word of a POSIX shell, in which no character is special. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
/** The same JSON in ASCII: a terminal could take other characters for commands, or encode them in another way. */
const inAscii = (json) => json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const withoutSecrets = (json) => JSON.stringify(JSON.parse(json), (name, value) => /password$|^(code|recoveryCode|mailCode)$/i.test(name) ? "***" : value);
/**
* A command that repeats the request. Below `/auth` it uses a cookie jar, since a page can't read the browser's cookie.
* @param revealed whether it contains the passwords, the codes and the token. Otherwise the token is the variable TOKEN of the shell. A proof works once,
* so it always is the variable PROOF.
*/
const curlCommand = ({ method, url, authorization, body }, revealed) => [
	`curl -i -X ${method} ${quoted(url)}`,
	.../\/auth\//.test(new URL(url).pathname) ? ["-b jar -c jar"] : [],
	...authorization === null ? [] : authorized(authorization, revealed),
	...body === null ? [] : [`-H 'Content-Type: application/json'`],
	...body === null ? [] : [`--data-raw ${quoted(inAscii(revealed ? body : withoutSecrets(body)))}`]
].join(" \\\n  ");
const authorized = (authorization, revealed) => {
	const [scheme] = authorization.split(" ");
	return [`-H ${revealed ? quoted(`Authorization: ${authorization}`) : `"Authorization: ${scheme} $TOKEN"`}`, ...scheme === "DPoP" ? ["-H \"DPoP: $PROOF\""] : []];
};
const TOKEN = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;
const SHOWN = 16;
/** Pretty JSON, in which tokens are shortened and secrets of second factors left out, unless they are revealed. */
const prettyAnswer = (answer, revealed) => JSON.stringify(answer, (name, value) => revealed ? value : concealed(name, value), 2);
const concealed = (name, value) => {
	if (/^(secret|uri|qr)$/.test(name)) return "***";
	if (name === "recoveryCodes" && Array.isArray(value)) return value.map(() => "***");
	return typeof value === "string" && TOKEN.test(value) ? `${value.slice(0, SHOWN)}…` : value;
};
const MOST = 50;
/** The list of requests, the newest first. The last one that the user has asked for is open. @returns a function that adds one. */
const showRequests = () => {
	const [list, empty, reveal] = [
		byId("log"),
		byId("log-empty"),
		byId("reveal")
	];
	let revealed = false;
	let entries = [];
	let asked;
	reveal.addEventListener("click", () => {
		revealed = !revealed;
		reveal.ariaPressed = `${revealed}`;
		for (const { write } of entries) write(revealed);
	});
	byId("clear").addEventListener("click", () => {
		entries = [];
		list.replaceChildren();
		empty.hidden = false;
		say("The list of requests is empty.");
	});
	return (exchange) => {
		const isAsked = isAskedFor(exchange);
		const entry = entryOf(exchange, isAsked);
		entry.write(revealed);
		if (isAsked) {
			if (asked) asked.details.open = false;
			asked = entry;
		}
		entries = [entry, ...entries].slice(0, MOST);
		list.prepend(make("li", {}, entry.details));
		while (list.children.length > MOST) list.lastElementChild?.remove();
		empty.hidden = true;
	};
};
const entryOf = (exchange, isAsked) => {
	const { url, method, status, code, requestId, duration } = exchange;
	const { pathname, search } = new URL(url);
	const [command, answer] = [make("pre", {}), make("pre", {})];
	const result = make("span", { className: status !== null && status < 400 ? "good" : "bad" }, `${status ?? "failed"}`);
	const notes = [`${Math.round(duration)} ms`, ...isAsked ? [] : ["sent by the console itself"]];
	const details = make("details", { open: isAsked }, make("summary", {}, make("code", {}, `${method} ${pathname}${search}`), " ", result, " ", ...code === null ? [] : [make("code", {}, code), " "], make("span", { className: "note" }, notes.join(", "))), make("div", {}, ...requestId === null ? [] : [make("dl", {}, make("dt", {}, "Request id"), make("dd", {}, requestId))], make("h3", {}, "curl", copyButton(command, `${method} ${pathname}`)), command, make("h3", {}, "Answer"), answer));
	const write = (revealed) => {
		command.textContent = curlCommand(exchange, revealed);
		answer.textContent = prettyAnswer(exchange.answer, revealed);
	};
	return {
		details,
		write
	};
};
/** Browsers offer the clipboard to https and localhost only. */
const copyButton = (from, of) => {
	if (!navigator.clipboard) return make("span", {});
	const button = make("button", {
		type: "button",
		ariaLabel: `Copy the curl line of ${of}`
	}, "Copy");
	button.addEventListener("click", () => copy(from.textContent ?? ""));
	return button;
};
/** A time for people. */
const timeText = (time) => new Date(time).toLocaleString();
/** Shows an answer, unless its user has logged out meanwhile. */
const ofSameUser = async (auth, answer, show) => {
	const id = auth.user?.id;
	const arrived = await answer;
	if (auth.user?.id === id) show(arrived);
};
/** @param beside what is at the end of the item: buttons, or a mark. */
const itemOf = (title, notes, ...beside) => {
	const lines = notes.map((note) => make("p", { className: "note" }, note));
	return make("li", {}, make("div", {}, make("p", {}, title), ...lines), ...beside);
};
const BOUND = {
	none: "not bound to a device",
	device: "bound to a key of a page on its device",
	browser: "bound to a key of its browser"
};
/** The list of sessions. @returns functions that load and empty it. */
const showSessions = (auth) => {
	const { sessions } = auth;
	const show = (...items) => byId("sessions").replaceChildren(...items);
	const list = () => ofSameUser(auth, sessions.list(), (found) => show(...found.map(sessionItem)));
	/** The button that was clicked goes away with its session. */
	const afterwards = async (text) => {
		await list();
		byId("sessions-title").focus();
		say(text);
	};
	const sessionItem = (session) => {
		const { id, name, userAgent, address, createdAt, lastUsedAt, binding, current, remembered } = session;
		const device = name ?? userAgent ?? "unknown program";
		const ariaLabel = remembered ? `Forget the device ${device}, remembered ${timeText(createdAt)}` : `End the session of ${device}, opened ${timeText(createdAt)}`;
		const end = make("button", {
			type: "button",
			ariaLabel
		}, remembered ? "Forget" : "End");
		end.dataset.sends = `DELETE /auth/sessions/${id}`;
		onClick(end, async () => {
			await sessions.end(id);
			await afterwards(remembered ? "The device is forgotten." : "The session has ended.");
		});
		const notes = [`${address ?? "unknown network"}, ${remembered ? "since" : "opened"} ${timeText(createdAt)}, last used ${timeText(lastUsedAt)}`, remembered ? "remembered device: it is asked for the password alone" : BOUND[binding]];
		const item = itemOf(device, notes, current ? make("span", { className: "good" }, "This session") : end);
		item.title = userAgent ?? "";
		return item;
	};
	onClick(byId("list-sessions"), list);
	onClick(byId("end-others"), async () => {
		await sessions.endOthers();
		await afterwards("All other sessions have ended.");
	});
	return {
		list,
		clear: show
	};
};
/** What gets the focus. */
const TITLES = {
	in: "tokens-title",
	out: "login-title"
};
/** Shows what fits, and moves the focus if its place is hidden now. */
const showState = (state) => {
	const place = document.activeElement?.closest("[data-show]")?.dataset.show;
	for (const part of document.querySelectorAll("[data-show]")) part.hidden = part.dataset.show !== state;
	if (place && place !== state) byId(TITLES[state]).focus();
};
/** @returns the milliseconds that are left of so many from now on, also after the machine was asleep or its clock was set. */
const countdown = (milliseconds) => {
	const [start, at] = [performance.now(), Date.now()];
	return () => Math.max(0, milliseconds - Math.max(performance.now() - start, Date.now() - at));
};
const UNITS = [
	["d", 86400],
	["h", 3600],
	["min", 60],
	["s", 1]
];
/** The two largest units, as `14 min 32 s`. */
const durationText = (milliseconds) => {
	let rest = Math.ceil(milliseconds / 1e3);
	const parts = [];
	for (const [name, seconds] of UNITS) {
		const count = Math.floor(rest / seconds);
		rest -= count * seconds;
		if (count > 0 || parts.length > 0) parts.push(`${count} ${name}`);
	}
	return parts.slice(0, 2).join(" ") || "0 s";
};
/** Below this share a bar has the colour of a warning. */
const LOW = .2;
/**
* The bars and the claims. Both tokens are issued at once, so the lifetimes of both are counted from the arrival of the access token.
* @param refreshLifetime in milliseconds.
* @returns a function that shows an access token that has just arrived.
*/
const showTokens = (refreshLifetime) => {
	let tick = () => void 0;
	setInterval(() => tick(), 1e3);
	return (token) => {
		const [header, claims] = token.split(".").slice(0, 2).map(decoded);
		const bars = [bar("access", (claims.exp - claims.iat) * 1e3), bar("refresh", refreshLifetime)];
		tick = () => {
			for (const show of bars) show();
		};
		tick();
		byId("claims").replaceChildren(...Object.entries({
			...claims,
			sid: header.sid
		}).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, claimText(name, value))]));
	};
};
const decoded = (part) => JSON.parse(atob(part.replaceAll("-", "+").replaceAll("_", "/")));
const claimText = (name, value) => {
	if (name === "iat" || name === "exp") return `${value} (${(/* @__PURE__ */ new Date(Number(value) * 1e3)).toLocaleString()})`;
	return typeof value === "string" ? value : JSON.stringify(value, null, 1);
};
const bar = (token, lifetime) => {
	const [progress, text] = [byId(`${token}-bar`), byId(`${token}-left`)];
	const left = countdown(lifetime);
	progress.max = lifetime;
	return () => {
		progress.value = left();
		progress.classList.toggle("low", left() < lifetime * LOW);
		text.textContent = left() > 0 ? `${durationText(left())} left of ${durationText(lifetime)}` : `expired, after ${durationText(lifetime)}`;
	};
};
const SAID = {
	login: "Logged in.",
	refresh: "Both tokens are new.",
	logout: "Logged out.",
	ended: "The service has refused the session. Log in again."
};
byId("refused").remove();
byId("who").textContent = "Looking for a session…";
const baseUrl = new URL(".", import.meta.url).href;
const send = watchedFetch(showRequests());
const auth = createAuthClient({
	baseUrl,
	fetch: send
});
const showToken = showTokens(Number(document.querySelector("meta[name=refresh-lifetime]")?.content));
const sessions = showSessions(auth);
const show = (user) => {
	showState(user ? "in" : "out");
	byId("who").textContent = user ? `${user.username}, ${user.email}` : "Nobody is logged in.";
};
/** Whose sessions are listed. */
let listed = null;
/** For each log-in, renewal and log-out, in this tab or another. */
const follow = async (user, why) => {
	if (listed !== user?.id) sessions.clear();
	show(user);
	say(SAID[why], why === "ended" ? "bad" : "");
	const token = user && await auth.accessToken();
	if (token) showToken(token);
	const isListed = why !== "login" && listed === user?.id;
	listed = user?.id ?? null;
	if (token && !isListed) await sessions.list();
};
auth.onChange((user, why) => void follow(user, why).catch(showError));
auth.ready.then(show, (error) => {
	show(null);
	showError(error);
});
byId("settings").href = auth.linkTo("account");
onClick(byId("login"), async () => auth.logInAt());
onClick(byId("logout"), auth.logout);
onClick(byId("refresh"), auth.refresh);
for (const [id, path] of [["protected", "users/me"], ["optional", "auth/session"]]) onClick(byId(id), async () => {
	const { status } = await (byId("with-token").checked ? auth.fetch : send)(baseUrl + path);
	say(`GET /${path}: ${status}`, status < 400 ? "" : "bad");
});
