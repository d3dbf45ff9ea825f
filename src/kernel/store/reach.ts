import { ConfigError } from '../config'

/**
 * Asks Postgres the first thing. Where it cannot be reached, or refuses, the failure names its host, its database and
 * the setting, never the password.
 * @throws ConfigError
 */
export async function reached<T>(url: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const { message, code, errno } = error as { message?: string; code?: string; errno?: string }
    const which = [code, errno].find((one) => typeof one === 'string' && one !== '')
    throw new ConfigError([
      `${placeOf(url)}: ${`${String(message).replace(/\.$/, '')}${which ? ` (${which})` : ''}`}. Check SVC_DATABASE_URL.`,
    ])
  }
}

function placeOf(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed) return 'The URL of Postgres cannot be read'
  const { hostname, port, pathname, username } = parsed
  const who = username ? ` as ${decodeURIComponent(username)}` : ''
  return `Postgres at ${hostname || 'localhost'}:${port || '5432'} cannot be used (database ${pathname.slice(1) || username}${who})`
}
