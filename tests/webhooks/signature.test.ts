import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { verifyWebhook } from '../../client'
import { signatureHeaders } from '../../src/kernel/webhook-signature'
import { deliverySums, newestDeliveries } from '../../src/webhooks'
import { createWorld, type Person } from '../support/world'
import { createReceiver, LOCAL, webhooksIn } from './support'

const world = await createWorld({ config: LOCAL })
const { make, publish, deliver } = webhooksIn(world)

/** The official libraries, given the secret as it was shown. They throw for a signature that is not good. */
function verifyAs(secret: string, body: string, headers: Record<string, string>): void {
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
  new Svix(secret).verify(body, headers)
}

/** How they are given the text of another form. */
const rawOf = (secret: string) => new Webhook(Buffer.from(secret), { format: 'raw' })

/** HMAC-SHA256 of files by the program, in hex; the key as the characters that it is. */
async function digestOf(secret: string, ...files: string[]): Promise<string[]> {
  const key = Buffer.from(secret).toString('hex')
  const command = ['openssl', 'dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`, ...files]
  return (await new Response(Bun.spawn(command, { stdout: 'pipe' }).stdout).text())
    .trim()
    .split('\n')
    .map((line) => line.split(' ').at(-1)!)
}

async function openssl(secret: string, message: string): Promise<string> {
  const file = join(tmpdir(), `svc-message-${crypto.randomUUID()}`)
  writeFileSync(file, message)
  const [hex] = await digestOf(secret, file)
  rmSync(file)
  return hex!
}

async function receivedBy(ada: Person, more: object = {}) {
  const receiver = createReceiver()
  const hook = await make(ada, receiver.url, more)
  await publish(ada, 'order.created', { text: 'Grüße, 世界 🌍' })
  await deliver()
  return { ...receiver.got[0]!, secret: hook.signing_secret as string, id: hook.id as string, receiver }
}

describe('a delivery', () => {
  test('is verified by openssl and by the package of Standard Webhooks, and by no other secret', async () => {
    const { headers, body, secret } = await receivedBy(await world.person())
    const signature = await openssl(secret, `${headers['svc-webhook-timestamp']}.${body}`)
    expect(headers['svc-webhook-signature']).toBe(`v1=${signature}`)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    verifyAs(secret, body, headers)
    for (const library of [new Webhook(secret), new Svix(secret)])
      expect(() => library.verify(`${body} `, headers)).toThrow()
    expect(() => new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`).verify(body, headers)).toThrow()
    expect(headers['svc-webhook-id']).toBe(JSON.parse(body).id)
  })

  test.each([
    ['24 bytes', 'whsec_dHdlbnR5LWZvdXIgYnl0ZXMgc2VjcmV0'],
    ['64 bytes', `whsec_${Buffer.alloc(64, 0xfb).toString('base64')}`],
    ['20 bytes', `whsec_${Buffer.alloc(20, 7).toString('base64')}`],
    ['without padding', `whsec_${Buffer.alloc(32, 8).toString('base64').replace('=', '')}`],
  ])('with a chosen secret of base64, %s, is verified by the libraries with the secret as given', async (_, chosen) => {
    const { headers, body, secret } = await receivedBy(await world.person(), { secret: chosen })
    expect(secret).toBe(chosen)
    verifyAs(chosen, body, headers)
    expect(await verifyWebhook({ body, headers, secret })).toEqual(JSON.parse(body))
    const own = await openssl(secret, `${headers['svc-webhook-timestamp']}.${body}`)
    expect(headers['svc-webhook-signature']).toBe(`v1=${own}`)
  })

  test.each([
    'my own secret, 30 characters ok',
    'f'.repeat(64),
    'Schlüssel für den Händler 1',
    'whsec_not-base64-but-url-safe_',
  ])('with a chosen secret of another form is verified with the raw option: %s', async (chosen) => {
    const { headers, body, secret } = await receivedBy(await world.person(), { secret: chosen })
    expect(rawOf(secret).verify(body, headers)).toEqual(JSON.parse(body))
    expect(await verifyWebhook({ body, headers, secret })).toEqual(JSON.parse(body))
  })

  test('is signed with the new secret at once after a rotation, and with both while there is grace', async () => {
    const before = await deliverySums(world.app.container.store.read, 0)
    const ada = await world.person()
    const { id, secret, receiver } = await receivedBy(ada)
    const { body: rotated } = await ada.send('POST', `webhooks/${id}/rotate-secret`)
    await publish(ada)
    await deliver()
    const second = receiver.got[1]!
    expect(() => new Webhook(secret).verify(second.body, second.headers)).toThrow()
    new Webhook(rotated.signing_secret).verify(second.body, second.headers)
    const { body: again } = await ada.send('POST', `webhooks/${id}/rotate-secret`, { grace_seconds: 600 })
    await publish(ada)
    await deliver()
    const third = receiver.got[2]!
    for (const good of [rotated.signing_secret, again.signing_secret]) {
      verifyAs(good, third.body, third.headers)
      expect(await verifyWebhook({ ...third, secret: good })).toEqual(JSON.parse(third.body))
    }
    const own = await openssl(again.signing_secret, `${third.headers['svc-webhook-timestamp']}.${third.body}`)
    expect(third.headers['svc-webhook-signature']).toBe(`v1=${own}`)
    // What the dashboard shows of each attempt: which secret signed it, how it begins and ends, and how much was sent.
    const shown = (await newestDeliveries(world.app.container.store.read, 10)).filter(
      ({ webhook_id }) => webhook_id === id,
    )
    expect(shown.map(({ secret_version }) => secret_version)).toEqual([3, 2, 1])
    expect(shown[0]).toMatchObject({
      signature: `v1=${own.slice(0, 4)}…${own.slice(-4)}`,
      bytes: Buffer.byteLength(third.body),
    })
    const { total, ok } = await deliverySums(world.app.container.store.read, 0)
    expect({ total: total - before.total, ok: ok - before.ok }).toEqual({ total: 3, ok: 3 })
  })
})

test('our signatures are those of the package and of openssl, for any text', async () => {
  const [at, secret] = [new Date(1_767_225_600_000), 'c'.repeat(64)]
  const timestampS = at.getTime() / 1_000
  const bodies = ['{}', '', ...fc.sample(fc.string({ unit: 'binary' }), 998).map((text) => JSON.stringify({ text }))]
  const folder = mkdtempSync(join(tmpdir(), 'svc-signed-'))
  try {
    for (const [n, body] of bodies.entries()) writeFileSync(join(folder, String(n)), `${timestampS}.${body}`)
    const hexes = await digestOf(secret, ...bodies.keys().map((n) => join(folder, String(n))))
    expect(hexes).toHaveLength(1_000)
    const others = fc.sample(fc.stringMatching(/^[0-9a-f]{64}$/), bodies.length)
    for (const [n, body] of bodies.entries()) {
      const signed = (by: string) => signatureHeaders({ id: 'evt_1', timestampS, body, secret: by })
      expect(signed(secret)['svc-webhook-signature']).toBe(`v1=${hexes[n]}`)
      const other = others[n]!
      const encoded = `whsec_${Buffer.from(other, 'hex').toString('base64')}`
      expect(signed(other)['webhook-signature']).toBe(rawOf(other).sign('evt_1', at, body))
      expect(signed(encoded)['webhook-signature']).toBe(new Webhook(encoded).sign('evt_1', at, body))
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}, 120_000)
