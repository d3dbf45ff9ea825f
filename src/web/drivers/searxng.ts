import type { SearchConfig, SearchDriver } from '../search'
import { askSearch, member, toHits } from './answer'

/** Driver for a SearXNG server; its JSON format must be switched on (`search.formats: [html, json]`). */
export const createSearxng = ({ baseUrl, apiKey }: SearchConfig): SearchDriver => ({
  async search(query, count, signal) {
    const url = `${baseUrl.replace(/(?<!\/)\/+$/, '')}/search?${new URLSearchParams({ q: query, format: 'json' })}`
    const headers = { accept: 'application/json', ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) }
    return toHits(member(await askSearch(url, { headers, signal }), 'results'), 'content', count)
  },
})
