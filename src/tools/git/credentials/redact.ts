import type { Login } from './login.ts';

const HIDDEN = '[hidden]';

/** Removes a password from a remote's output, in all encodings that programs use. */
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
