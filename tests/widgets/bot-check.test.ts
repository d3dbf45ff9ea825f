import { expect, test } from 'bun:test'
import { buildAssets, createAssets } from '../../src/pages'
import { frameHeaders } from '../../src/pages/frame-page'
import { serveLocally } from '../support/listening'
import { createWidgetWorld } from './world'

const requests: Record<string, string>[] = []
const verifier = serveLocally(async (request) => {
  const form = Object.fromEntries(new URLSearchParams(await request.text()))
  requests.push(form)
  if (form.response === 'broken') return new Response('<html>', { status: 502 })
  return Response.json({ success: form.response === 'good' })
})
const world = await createWidgetWorld({
  config: {
    turnstileSecret: 'the secret',
    turnstileSiteKey: 'site-key',
    turnstileUrl: verifier.url.href,
    egressAllow: '127.0.0.0/8',
  },
})
const { id, owner } = await world.widget({ security: { requireTurnstile: true } })

test('a chat begins with a token that the check confirms, and with no other', async () => {
  const begin = (input: object) => world.page('POST', `${id}/sessions`, input)
  for (const input of [{}, { turnstile_token: 'bad' }, { turnstile_token: 'broken' }]) {
    const { status, body } = await begin(input)
    expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'bot_check_failed' })
    expect(body.error.message).not.toContain('the secret')
  }
  expect((await begin({ turnstile_token: 'good' })).status).toBe(201)
  expect(requests.at(-1)).toMatchObject({ secret: 'the secret', response: 'good' })
  // An owner who looks at a preview is no visitor.
  const { body } = await owner.send('POST', `iframes/${id}/preview-token`)
  expect((await begin({ preview_token: body.token })).status).toBe(201)
})

const assets = await createAssets(buildAssets)()

test('only a page that requires the check may load its script', async () => {
  const turnstileScript = 'https://checks.example/api.js'
  expect((await world.page('GET', `${id}/public`)).body.security).toEqual({
    requireTurnstile: true,
    turnstileSiteKey: 'site-key',
    turnstileScript: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
  })
  const { id: other } = await world.widget()
  expect((await world.page('GET', `${other}/public`)).body.security.turnstileScript).toBeNull()
  const policyOf = (security: object) =>
    frameHeaders({ config: { id, appearance: {}, security }, frameAncestors: [] }, assets)['content-security-policy']!
  const own = `script-src 'self' 'sha256-${assets.inline.scriptHash}'`
  expect(policyOf({ turnstileScript })).toContain(`${own} https://checks.example; frame-src https://checks.example;`)
  expect(policyOf({ turnstileScript: null })).toContain(`${own}; style-src`)
})

test('the tag has nothing that an owner can word (M16)', async () => {
  const name = '"><script>alert(1)</script>'
  const { body } = await owner.send('PATCH', `iframes/${id}`, { name, appearance: { title: name, launcherText: name } })
  expect(body.embed_snippet).toMatch(
    /^<script async src="[^"<>]+\/embed\.js" data-config-id="[0-9a-f-]{36}"><\/script>$/,
  )
  const { body: preview } = await owner.send('POST', `iframes/${id}/preview-token`)
  const page = await world.app.api.handle(new Request(`http://localhost/embed/widget/${id}?preview=${preview.token}`))
  const text = await page.text()
  expect(page.status).toBe(200)
  expect(text).not.toContain('<script>alert')
})
