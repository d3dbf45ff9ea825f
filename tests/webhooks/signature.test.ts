import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { signatureHeaders } from '../../src/kernel/webhook-signature'
import { deliverySums, newestDeliveries } from '../../src/webhooks'
import { createWorld, type Person } from '../support/world'
import { createReceiver, LOCAL, webhooksIn } from './support'

const world = await createWorld({ config: LOCAL })
const { make, publish, deliver } = webhooksIn(world)

/** The way a secret is given to verifiers of Standard Webhooks. */
const verifierOf = (secret: string) => new Webhook(`whsec_${Buffer.from(secret).toString('base64')}`)

/** HMAC-SHA256 of files by the program, in hex; the key as the characters that it is. */
async function digestOf(secret: string, ...files: string[]): Promise<string[]> {
  const key = Buffer.from(secret).toString('hex')
  const command = ['openssl', 'dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`, ...files]
  const said = await new Response(Bun.spawn(command, { stdout: 'pipe' }).stdout).text()
  return said
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
    expect(verifierOf(secret).verify(body, headers)).toEqual(JSON.parse(body))
    expect(() => verifierOf(secret).verify(`${body} `, headers)).toThrow()
    expect(() => verifierOf('f'.repeat(64)).verify(body, headers)).toThrow()
    expect(headers['svc-webhook-id']).toBe(JSON.parse(body).id)
  })

  test('is signed with the secret that was chosen', async () => {
    const { headers, body, secret } = await receivedBy(await world.person(), {
      secret: 'my own secret, 30 characters ok',
    })
    expect(secret).toBe('my own secret, 30 characters ok')
    expect(verifierOf(secret).verify(body, headers)).toEqual(JSON.parse(body))
  })

  test('is signed with the new secret at once after a rotation, and with both while there is grace', async () => {
    const ada = await world.person()
    const { id, secret, receiver } = await receivedBy(ada)
    const { body: rotated } = await ada.send('POST', `webhooks/${id}/rotate-secret`)
    await publish(ada)
    await deliver()
    const second = receiver.got[1]!
    expect(() => verifierOf(secret).verify(second.body, second.headers)).toThrow()
    verifierOf(rotated.signing_secret).verify(second.body, second.headers)
    const { body: again } = await ada.send('POST', `webhooks/${id}/rotate-secret`, { grace_seconds: 600 })
    await publish(ada)
    await deliver()
    const third = receiver.got[2]!
    for (const good of [rotated.signing_secret, again.signing_secret])
      verifierOf(good).verify(third.body, third.headers)
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
    expect(await deliverySums(world.app.container.store.read, 0)).toMatchObject({ total: 5, ok: 5 })
  })
})

test('our signatures are those of the package and of openssl, for any text', async () => {
  const [at, secret] = [new Date(1_767_225_600_000), 'c'.repeat(64)]
  const timestampS = at.getTime() / 1_000
  const texts = fc.sample(fc.string({ unit: 'binary' }), 998).map((text) => JSON.stringify({ text }))
  const bodies = ['{}', '', ...texts]
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
      expect(signed(other)['webhook-signature']).toBe(verifierOf(other).sign('evt_1', at, body))
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}, 120_000)
