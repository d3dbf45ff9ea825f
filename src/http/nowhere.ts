import { html, PAGE_HEADERS, page } from '../kernel/html'
import { API } from './context'

/** What a person sees at an address where there is nothing. */
export const NOWHERE_PAGE = page(
  'Not here',
  html`<h1>There is nothing here</h1>
<p>The address may be mistyped, or what was here is gone.</p>
<p><a href="/">To the start</a></p>`,
)

/** Its headers; programs that ask for the same address get JSON. */
export const NOWHERE_HEADERS: Readonly<Record<string, string>> = { ...PAGE_HEADERS, vary: 'Origin, Accept' }

/** Whether a browser wants to show the answer as a page. Calls of the API are answered with JSON whatever they accept. */
export const isForBrowser = ({ method, headers }: Request, path: string): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  !path.startsWith(`${API}/`) &&
  (headers.get('accept') ?? '').includes('text/html')
