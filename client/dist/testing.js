import { AuthError } from "./client.js";

// src/testing.ts
const EXAMPLE_TIME = "2026-01-01T00:00:00.000Z";
const userOf = (members) => {
	const { username = "ada" } = members;
	return {
		id: `id-of-${username}`,
		username,
		email: `${username}@example.org`,
		createdAt: EXAMPLE_TIME,
		updatedAt: EXAMPLE_TIME,
		...members
	};
};
const stepUpResponse = (reason) => {
	const wanted = reason === "recent" ? "max_age=\"300\"" : "acr_values=\"aal2\"";
	const code = "AUTH_STEP_UP_REQUIRED";
	return Response.json({
		success: false,
		code,
		message: code,
		details: null
	}, {
		status: 401,
		headers: { "WWW-Authenticate": `Bearer error="insufficient_user_authentication", ${wanted}` }
	});
};
const createFakeAuthClient = (options = {}) => {
	const listeners = /* @__PURE__ */ new Set();
	const calls = [];
	const failures = [];
	const stepUps = [];
	let user = options.user ? userOf(options.user) : null;
	const becomes = (next, why = next ? "login" : "logout") => {
		user = next && userOf(next);
		for (const listener of listeners) listener(user, why);
	};
	const call = async (name, args, result) => {
		calls.push([name, ...args]);
		const failure = failures.find(([each]) => each === name);
		if (failure) failures.splice(failures.indexOf(failure), 1);
		await void 0;
		if (failure) throw failure[1];
		return await result();
	};
	const enter = (username) => {
		becomes(user?.username === username ? user : { username });
		return user;
	};
	const done = () => void 0;
	return {
		calls,
		becomes,
		failNext: (name, code, more) => {
			failures.push([name, new AuthError(code, code, more)]);
		},
		askStepUp: (reason) => {
			stepUps.push(reason);
		},
		get user() {
			return user;
		},
		binding: "none",
		ready: Promise.resolve(user),
		onChange: (listener) => {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
		register: (registration) => call("register", [registration], () => {
			const { email, username = email.slice(0, email.indexOf("@")) } = registration;
			becomes({
				username,
				email
			});
			return user;
		}),
		login: (credentials) => call("login", [credentials], () => enter(credentials.account)),
		requestCode: (account) => call("requestCode", [account], () => null),
		logInWithCode: (code) => call("logInWithCode", [code], () => enter(`${calls.filter(([name]) => name === "requestCode").at(-1)?.[1] ?? "ada"}`)),
		logInAt: (...args) => call("logInAt", args, () => enter(user?.username ?? "ada")),
		logInWith: (...args) => call("logInWith", args, () => void enter(user?.username ?? "ada")),
		linkTo: (page) => `https://auth.example.org/auth/${page}`,
		logout: () => call("logout", [], () => becomes(null)),
		stepUp: (factor) => call("stepUp", [factor], done),
		refresh: () => call("refresh", [], () => user),
		changePassword: (change) => call("changePassword", [change], done),
		sessions: {
			list: () => call("sessions.list", [], () => options.sessions ?? []),
			end: (id) => call("sessions.end", [id], done),
			endOthers: () => call("sessions.endOthers", [], done)
		},
		fetch: (input, init) => call("fetch", [input, init], async () => {
			const reason = stepUps.shift();
			if (reason && !options.onStepUp) return stepUpResponse(reason);
			if (reason) await options.onStepUp?.(reason);
			return options.fetch ? options.fetch(input, init) : Response.json({
				success: true,
				data: null
			});
		}),
		accessToken: () => call("accessToken", [], () => user ? "a-token" : null),
		dispose: () => listeners.clear()
	};
};

export { createFakeAuthClient };