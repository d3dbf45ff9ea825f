import { apiOf } from './api'
import type { Shell } from './shell'

/** The routes of one webhook, in an object: the client of a route looks like a promise to whoever awaits it. */
export async function webhookAt(shell: Shell, id: string) {
  const { api } = await apiOf(shell)
  return { hook: api.webhooks({ id: encodeURIComponent(id) }) }
}
