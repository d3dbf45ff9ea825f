import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import OpenAI from 'openai'
import { expiredUploads, verifyUploads } from '../../src/files'
import { uploadOwners, uploads } from '../../src/files/table'
import { countReader } from '../../src/files/uploads'
import { operatorSender } from '../operators/support'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { listen } from '../support/listening'
import { createWorld, type Person } from '../support/world'
import { sendFile, sha256, storedIn } from './support'

const clock = fakeClock('2026-03-01T00:00:00.000Z')
const world = await createWorld({ clock })
const { origin } = listen(world)
const operator = operatorSender(world)
const { store, container } = world.app
const NOW = clock.now() / 1_000
const MONTH = 30 * 86_400

const clientOf = ({ key }: Person) => new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: 0 })
const verify = async () => [...(await container.files.verify(store.read)), ...(await verifyUploads(store.read))]
const isStored = (text: string, times: number) =>
  eventually(
    () => storedIn(world.folder).filter((name) => name.startsWith(sha256(Buffer.from(text)))).length,
    (count) => count === times,
  )
const expiry = async () => {
  await expiredUploads(container).run({ signal: new AbortController().signal } as never)
}

async function send(person: Person, fields: Record<string, string | File>, headers = {}) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return person.send('POST', 'files', form, headers)
}

describe('files (docs/api.md 32.6) with the openai package', () => {
  test('are sent, read, listed, downloaded and deleted', async () => {
    const person = await world.person()
    const client = clientOf(person)
    const text = '{"custom_id":"a"}\n'
    const file = new File([text], 'lines of mine.jsonl')
    const sent = await client.files.create({ file, purpose: 'batch' })
    const { id } = sent
    expect({ ...sent }).toMatchObject({
      id: expect.stringMatching(/^file-[0-9A-Za-z]{24}$/),
      ...{ object: 'file', bytes: text.length, created_at: NOW, expires_at: NOW + MONTH },
      ...{ filename: 'lines of mine.jsonl', purpose: 'batch', status: 'processed' },
      request_id: expect.any(String),
    })
    expect(await client.files.retrieve(id)).toMatchObject({ ...sent, request_id: expect.any(String) })
    const content = await client.files.content(id)
    expect(await content.text()).toBe(text)
    expect(content.headers.get('content-disposition')).toBe('attachment; filename="lines of mine.jsonl"')
    expect(content.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await client.files.delete(id)).toMatchObject({ id: id, object: 'file', deleted: true })
    expect((await person.send('GET', `files/${id}`)).status).toBe(404)
    await isStored(text, 0)
  })

  test('are listed in pages, in both orders, by purpose', async () => {
    const person = await world.person()
    const client = clientOf(person)
    const ids: string[] = []
    for (const purpose of ['batch', 'user_data', 'vision', 'user_data']) {
      clock.advance(1_000)
      ids.push(await sendFile(person, purpose, purpose))
    }
    const found: string[] = []
    for await (const { id } of client.files.list({ limit: 2 })) found.push(id)
    expect(found).toEqual(ids.toReversed())
    const { body } = await person.send('GET', `files?order=asc&limit=2&after=${ids[1]}`)
    expect(body).toMatchObject({ object: 'list', first_id: ids[2], last_id: ids[3], has_more: false })
    const own = await person.send('GET', 'files?purpose=user_data')
    expect(own.body.data.map(({ id }: { id: string }) => id)).toEqual([ids[3], ids[1]])
    expect((await person.send('GET', 'files?after=file-unknown')).status).toBe(400)
    expect((await person.send('GET', 'files?limit=1001')).status).toBe(400)
  })

  test('expire when they say so, and not while a batch reads them', async () => {
    const person = await world.person()
    const client = clientOf(person)
    const file = new File(['short lived'], 'a.txt')
    const expires_after = { anchor: 'created_at', seconds: 3_600 } as const
    const { id, expires_at } = await client.files.create({ file, purpose: 'user_data', expires_after })
    expect(expires_at).toBe(clock.now() / 1_000 + 3_600)
    await store.write((tx) => countReader(tx, id as never, 1))
    expect(await person.send('DELETE', `files/${id}`)).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    })
    clock.advance(3_600_000)
    expect((await person.send('GET', `files/${id}`)).status).toBe(404)
    await expiry()
    await isStored('short lived', 1)
    await store.write((tx) => countReader(tx, id as never, -1))
    await expiry()
    await isStored('short lived', 0)
  })

  test('are kept as user_data where assistants, evals or fine-tune is meant', async () => {
    const person = await world.person()
    for (const purpose of ['assistants', 'evals', 'fine-tune', 'user_data']) {
      const { status, body } = await send(person, { purpose, file: new File(['x'], 'x.txt') })
      expect({ status, purpose: body.purpose }).toEqual({ status: 200, purpose: 'user_data' })
    }
    const file = new File(['x'], 'x.txt')
    const { body } = await send(person, { file }, { 'anthropic-version': '2023-06-01' })
    expect(body.purpose).toBe('user_data')
  })

  test.each([
    ['no purpose', { file: new File(['x'], 'x') }, 'purpose'],
    ['an unknown purpose', { purpose: 'other', file: new File(['x'], 'x') }, 'purpose'],
    ['no file', { purpose: 'batch' }, 'file'],
    ['a file of another name', { purpose: 'batch', upload: new File(['x'], 'x') }, 'file'],
    [
      'a life without its anchor',
      { purpose: 'batch', file: new File(['x'], 'x'), 'expires_after[seconds]': '3600' },
      'expires_after[anchor]',
    ],
    [
      'a life of too few seconds',
      {
        purpose: 'batch',
        file: new File(['x'], 'x'),
        'expires_after[anchor]': 'created_at',
        'expires_after[seconds]': '1',
      },
      'expires_after[seconds]',
    ],
  ])('%s is 400', async (_, fields, param) => {
    const { status, body } = await send(await world.person(), fields)
    expect({ status, code: body.error.code, param: body.error.param }).toEqual({
      ...{ status: 400, code: 'validation_error', param },
    })
  })

  test('are at most 25 MiB, for batches 64 MiB, and 1 GiB for an owner', async () => {
    const person = await world.person()
    const large = new File([new Uint8Array(25 * 1024 ** 2 + 1)], 'large.bin')
    expect(await send(person, { purpose: 'user_data', file: large })).toMatchObject({
      ...{ status: 413, body: { error: { code: 'payload_too_large' } } },
    })
    expect((await send(person, { purpose: 'batch', file: large })).status).toBe(200)
    await store.write((tx) => tx.update(tx.of(uploadOwners)).set({ bytes: 1024 ** 3 - 3 }))
    expect((await send(person, { purpose: 'user_data', file: new File(['abcd'], 'a') })).status).toBe(413)
    expect((await send(person, { purpose: 'user_data', file: new File(['abc'], 'a') })).status).toBe(200)
    expect(await verifyUploads(store.read)).not.toEqual([])
    await store.write((tx) => {
      const [o, u] = [tx.of(uploadOwners), tx.of(uploads)]
      const sum = sql`(select coalesce(sum(${u.size_bytes}), 0) from ${u} where ${u.owner} = ${o.owner})`
      return tx.update(o).set({ bytes: sum })
    })
  })

  test('belong to their owner; others find nothing', async () => {
    const [person, other] = [await world.person(), await world.person()]
    const id = await sendFile(person, 'Mine')
    for (const [method, path] of [
      ['GET', `files/${id}`],
      ['GET', `files/${id}/content`],
      ['DELETE', `files/${id}`],
    ] as const)
      expect((await other.send(method, path)).status).toBe(404)
    expect((await other.send('GET', 'files')).body.data).toEqual([])
  })

  test('operators list, read and delete them, and never their content', async () => {
    const person = await world.person()
    const id = await sendFile(person, 'Of this person')
    const owner = `user:${person.userId}`
    const { files } = (await operator('GET', `files?owner=${owner}`)).body
    expect(files).toMatchObject([{ id, owner, filename: 'theirs.txt', purpose: 'user_data', readers: 0 }])
    expect((await operator('GET', `files/${id}`)).body).toMatchObject({ id, size_bytes: 14 })
    expect((await operator('DELETE', `files/${id}`)).body).toMatchObject({ id, deleted: true })
    expect((await person.send('GET', `files/${id}`)).status).toBe(404)
  })

  test('are counted right after all of this', async () => {
    expect(await verify()).toEqual([])
  })
})
