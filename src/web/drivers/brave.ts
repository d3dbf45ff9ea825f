import type { SearchConfig, SearchDriver } from '../search'
import { askSearch, member, toHits } from './answer'

const BASE_URL = 'https://api.search.brave.com'

/** Driver for the Brave Search API. */
export const createBrave = ({ baseUrl, apiKey }: SearchConfig): SearchDriver => ({
  async search(query, count, signal) {
    const asked = new URLSearchParams({ q: query, count: String(count), text_decorations: 'false' })
    const url = `${(baseUrl || BASE_URL).replace(/(?<!\/)\/+$/, '')}/res/v1/web/search?${asked}`
    const headers = { accept: 'application/json', 'x-subscription-token': apiKey }
    const answer = await askSearch(url, { headers, signal })
    return toHits(member(member(answer, 'web'), 'results'), 'description', count)
  },
})
