import type { SearchConfig, SearchDriver } from '../search'
import { askSearch, member, toHits } from './answer'

const BASE_URL = 'https://api.tavily.com'

/** Driver for the Tavily search API. */
export const createTavily = ({ baseUrl, apiKey }: SearchConfig): SearchDriver => ({
  async search(query, count, signal) {
    const answer = await askSearch(`${(baseUrl || BASE_URL).replace(/(?<!\/)\/+$/, '')}/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ query, max_results: count, search_depth: 'basic' }),
      signal,
    })
    return toHits(member(answer, 'results'), 'content', count)
  },
})
