import { Elysia } from 'elysia'
import type { Guard } from '../http/guard'
import { html, PAGE_HEADERS, page } from '../kernel/html'

const home = (playground: boolean): string =>
  page(
    'svc',
    html`<h1>svc, an AI orchestration server</h1>
<p>It answers prompts through an API. Almost every call needs a key, which you get from the operator of this server.</p>
<dl>
<dt>Base address of the API</dt>
<dd><code>/api/v1</code> on this host; use it as the base URL of chat-completions clients</dd>
<dt>API reference</dt>
<dd><a href="/docs">/docs</a> for people, and the OpenAPI 3.1 document <a href="/openapi.json">/openapi.json</a> for tools</dd>
${
  playground &&
  html`<dt>Try prompts in the browser</dt>
<dd><a href="/docs/playground">the playground</a>, with a key</dd>`
}
<dt>Server health</dt>
<dd><a href="/api/v1/health">/api/v1/health</a></dd>
<dt>Sign in</dt>
<dd><a href="/sign-in">Sign in</a>, or open the link that you were sent. Programs send a key as <code>Authorization: Bearer</code></dd>
</dl>`,
  )

/** `GET /`: tells a person who opens the address in a browser what this is, and where to go on (dx 5.1). */
export function homePageRoutes(guard: Guard, playground: boolean) {
  const shown = home(playground)
  return new Elysia({ detail: { hide: true } }).use(guard).get(
    '/',
    ({ set }) => {
      Object.assign(set.headers, PAGE_HEADERS)
      return shown
    },
    { open: true },
  )
}
