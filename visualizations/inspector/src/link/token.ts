const KEY = 'sixgates.token';

/** The token of the link the runtime printed. It leaves the address bar at once and stays with this tab. */
export function takeToken(): string | null {
  const fragment = new URLSearchParams(window.location.hash.slice(1));
  const token = fragment.get('token');
  if (token !== null) {
    sessionStorage.setItem(KEY, token);
    window.history.replaceState(null, '', window.location.pathname + window.location.search);
    return token;
  }
  return sessionStorage.getItem(KEY);
}
