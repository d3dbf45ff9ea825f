import { apiOf } from './api'
import type { Shell } from './shell'

/** The routes of one hook, in an object: the client of a route looks like a promise to whoever awaits it. */
export async function hookAt(shell: Shell, id: string) {
  const { api } = await apiOf(shell)
  return { one: api.hooks({ id: encodeURIComponent(id) }) }
}
