import type { Login } from './login.ts';

const HIDDEN = '[hidden]';

/** Takes a password out of what a remote said, in the forms in which programs write one. */
export function redact(text: string, login: Login | null): string {
  if (login?.password == null) return text;
  const { username, password } = login.password;
  const forms = [
    password,
    encodeURIComponent(password),
    Buffer.from(`${username}:${password}`).toString('base64'),
    Buffer.from(password).toString('base64').replace(/=+$/, ''),
  ];
  return [...new Set(forms)]
    .sort((a, b) => b.length - a.length)
    .reduce((rest, form) => rest.replaceAll(form, HIDDEN), text);
}
