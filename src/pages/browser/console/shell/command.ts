/** The nouns of svc-admin whose `create -f` and `update -f` take the body of the API, by the path of their list. */
export const FILE_NOUNS: Record<string, string> = {
  '/workflows': 'workflows',
  '/evi/canvases': 'canvases',
  '/guardrail-policies': 'guardrails',
  '/routing-preferences': 'routing',
  '/iframes': 'widgets',
  '/test-cases': 'tests',
  '/views': 'views',
}

/** A body as one word of a shell. JSON has no newlines, and single quotes keep all else as it is. */
export const shellWord = (body: object): string => `'${JSON.stringify(body).replaceAll("'", `'\\''`)}'`

/** The command that takes the body of a call from stdin, if there is one. `owner` is whose the new item is. */
export function commandOf(method: string, path: string, owner: string): string | null {
  if (method === 'POST') return FILE_NOUNS[path] ? `svc-admin ${FILE_NOUNS[path]} create --org ${owner} -f -` : null
  const at = path.lastIndexOf('/')
  const noun = FILE_NOUNS[path.slice(0, at)]
  return method === 'PATCH' && noun ? `svc-admin ${noun} update ${path.slice(at + 1)} -f -` : null
}
