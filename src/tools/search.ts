/** One page that a search found. */
export type SearchHit = { title: string; url: string; snippet: string }

/** The seam between web_search and whatever searches. */
export type SearchDriver = {
  /** Best first, at most `count`. Throws {@link ToolFailure}. */
  search(query: string, count: number, signal: AbortSignal): Promise<SearchHit[]>
}

export type SearchConfig = { baseUrl: string; apiKey: string }
