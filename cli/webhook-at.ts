import { apiOf } from './api'
import { expectData } from './failure'
import type { Shell } from './shell'

/** The routes of one webhook, in an object: the client of a route looks like a promise to whoever awaits it. */
export async function webhookAt(shell: Shell, id: string) {
  const { api } = await apiOf(shell)
  return { hook: api.webhooks({ id: encodeURIComponent(id) }) }
}

/** The ids of all webhooks that the credential reaches. */
export async function webhookIds(shell: Shell): Promise<string[]> {
  const { api, whose } = await apiOf(shell)
  const ids: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { limit: 100, ...(cursor === undefined ? {} : { cursor }), ...whose }
    const page = expectData(await api.webhooks.get({ query }))
    ids.push(...page.webhooks.map(({ id }) => id))
    cursor = page.next_cursor
  }
  return ids
}
