export type SearchHit = { title: string; url: string; snippet: string }

/** What a search backend must implement. */
export type SearchDriver = {
  /** The best hits first, at most `count`. Throws {@link WebFailure}. */
  search(query: string, count: number, signal: AbortSignal): Promise<SearchHit[]>
}

export type SearchConfig = { baseUrl: string; apiKey: string }
