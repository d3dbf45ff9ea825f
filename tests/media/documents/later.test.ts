import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld } from '../../completions/upstream-world'
import { download } from './support'

/** Nothing is laid out while the request waits, so each document takes the way of one that takes long. */
const { world } = await createUpstreamWorld({ config: { documentWaitS: 0 } })
const { jobs, billing } = world.app.container
const KIND = 'documents.lay-out'
const ORDER = { prompt: 'A report [[say:# Tea and *milk*\n\n| a | b |\n|---|---|\n| 1 | 2 |]]', format: 'csv' }

describe('a document that takes longer to lay out than its request waits (docs/api.md 6)', () => {
  test('is answered without a file, charged once, and read with it later', async () => {
    const ada = await world.person({ cents: 100 })
    const made = await ada.send('POST', 'documents', ORDER, { 'idempotency-key': 'long-1' })
    expect(made.status).toBe(200)
    expect(made.body).toMatchObject({ title: 'Tea and milk', format: 'csv', download_url: null, size_bytes: null })
    expect(made.body.content).toContain('| 1 | 2 |')
    expect(made.body.usage.cost_cents).toBeGreaterThan(0)
    const left = await billing.balance(world.app.store.read, `user:${ada.userId}`)
    expect(left.held).toBe(0)
    const waiting = await ada.send('GET', `documents/${made.body.id}`)
    expect({ ...waiting.body, request_id: '' }).toEqual({ ...made.body, request_id: '' })
    expect((await ada.send('POST', 'documents', ORDER, { 'idempotency-key': 'long-1' })).body).toEqual(made.body)
    expect((await (await world.person()).send('GET', `documents/${made.body.id}`)).status).toBe(404)
    await jobs.runDue(KIND)
    const read = await ada.send('GET', `documents/${made.body.id}`)
    const { bytes } = await download(world, read)
    expect(new TextDecoder().decode(bytes)).toContain('1,2')
    expect(read.body).toEqual({
      ...made.body,
      request_id: read.body.request_id,
      download_url: read.body.download_url,
      size_bytes: bytes.length,
    })
    expect(await billing.balance(world.app.store.read, `user:${ada.userId}`)).toEqual(left)
    expect((await ada.send('GET', 'usage')).body.totals.requests).toBe(1)
    expect((await ada.send('GET', 'jobs')).body.jobs).toEqual([])
    expect((await ada.send('DELETE', `artifacts/${made.body.id.replace('doc_', 'art_')}`)).status).toBe(200)
    expect((await ada.send('GET', `documents/${made.body.id}`)).status).toBe(404)
  })

  test('keeps its text and says why, where no file could be made', async () => {
    const { container, store } = world.app
    const ada = await world.person({ cents: 100 })
    const { body } = await ada.send('POST', 'documents', ORDER)
    const row = await jobs.find(store.read, { name: KIND }, `user:${ada.userId}`, body.id.replace('doc_', 'job_'))
    await store.write((tx) => container.jobs.cancel(tx, row!))
    const read = await ada.send('GET', `documents/${body.id}`)
    expect(read.body).toMatchObject({ download_url: null, content: body.content, usage: body.usage })
    expect(read.body.warnings).toEqual(['The file could not be created. cancelled'])
  })
})
