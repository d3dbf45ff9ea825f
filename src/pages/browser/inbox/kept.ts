/** What the inbox remembers in this browser: drafts, saved replies, what was read, and the two switches. */
const PREFIX = 'svc-inbox:'

export function recall<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name)
    return text === null ? otherwise : (JSON.parse(text) as T)
  } catch {
    return otherwise
  }
}

export function keep(name: string, value: unknown): void {
  try {
    if (value === null || value === '') localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    // Without storage it is remembered as long as the page is open.
  }
}
