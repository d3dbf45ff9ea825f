import { apiOf } from './api'
import { expectData } from './failure'
import { eachEntry } from './pages'
import type { Shell } from './shell'

/** The routes of one webhook, in an object: the client of a route looks like a promise to whoever awaits it. */
export async function webhookAt(shell: Shell, id: string) {
  const { api } = await apiOf(shell)
  return { hook: api.webhooks({ id: encodeURIComponent(id) }) }
}

/** The ids of all webhooks that the credential reaches. */
export async function webhookIds(shell: Shell): Promise<string[]> {
  const { api, ownerFilter } = await apiOf(shell)
  return Array.fromAsync(
    eachEntry(async (input) => {
      const { webhooks, next_cursor } = expectData(await api.webhooks.get({ query: { ...input, ...ownerFilter } }))
      return { items: webhooks.map(({ id }) => id as string), next: next_cursor }
    }),
  )
}
