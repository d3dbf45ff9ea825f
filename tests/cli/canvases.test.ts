// SQLite only: a client of routes that tests of their modules call on both.
import { expect, test } from 'bun:test'
import { simple } from '../automation/canvases/drawing'
import { cliOver } from '../support/cli'
import { fakeIo } from '../support/io'
import { createWorld } from '../support/world'

const world = await createWorld()
const as = { key: (await world.person()).key }
const run = cliOver(world)
const { json } = cliOver(world, as)
const fed = (body: object) => ({ ...as, io: fakeIo({ stdin: JSON.stringify(body) }) })

test('canvases are made from a file, listed, changed and deleted with a key, by id or name', async () => {
  const made = await json('canvases create -f -', fed({ name: 'Drawn', graph_json: simple() }))
  expect(made).toMatchObject({ name: 'Drawn', status: 'draft', graphJson: simple() })
  expect((await run('canvases list', as)).stdout).toContain('Drawn')
  const dry = await run('canvases update Drawn -f - --dry-run --exit-code', fed({ name: 'Other' }))
  expect(dry).toMatchObject({ exitCode: 10, stderr: expect.stringContaining('change name of canvas Drawn') })
  expect(await json('canvases update Drawn -f -', fed({ name: 'Other' }))).toMatchObject({ id: made.id })
  expect((await json(['canvases', 'get', made.id.slice(0, 8)])).name).toBe('Other')
  expect((await run('canvases delete Other --yes', as)).exitCode).toBe(0)
  const gone = await run(`canvases get ${made.id}`, as)
  expect(gone).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('No canvas with this id.') })
})

test('a canvas compiles to its workflow, and what does not compile names its node', async () => {
  await json('canvases create -f -', fed({ name: 'Flow', graph_json: simple() }))
  const made = await json('canvases workflow Flow --enabled no')
  expect(made).toMatchObject({ name: 'Flow', triggerType: 'manual', enabled: false })
  expect((await json('canvases workflow Flow --name Other')).id).toBe(made.id)
  expect((await run('canvases runs Flow', as)).stderr).toContain('No runs yet')
  await json('canvases create -f -', fed({ name: 'Empty' }))
  const refused = await run('canvases workflow Empty', as)
  expect(refused).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('input') })
})

test('operators list everyone’s, or those of the owner named', async () => {
  const bob = await world.person()
  await json('canvases create -f -', fed({ name: 'Of Ada' }))
  await run('canvases create -f -', { key: bob.key, io: fakeIo({ stdin: '{"name":"Of Bob"}' }) })
  const all = (await run('canvases list')).stdout
  expect(all).toContain('Of Ada')
  expect(all).toContain('Of Bob')
  const bobs = (await run(`canvases list --org ${bob.userId}`)).stdout
  expect(bobs).not.toContain('Of Ada')
  expect(bobs).toContain('Of Bob')
})

test('every declared resource has its commands', async () => {
  const files = await Array.fromAsync(new Bun.Glob('src/*/resource.ts').scan('.'))
  const resources = (await Promise.all(files.map((file) => import(`../../${file}`)))).flatMap((held) =>
    Object.values(held),
  )
  const listed = JSON.parse((await run('commands -o json')).stdout) as { summary: string }[]
  const summaries = listed.map(({ summary }) => summary)
  expect(resources.length).toBeGreaterThanOrEqual(3)
  for (const { title } of resources as { title: { one: string; many: string } }[]) {
    expect(summaries).toContain(`List ${title.many}, newest first`)
    // A hook is installed, not created.
    const made = new RegExp(`^(?:Create|Install) a ${title.one}\\b`)
    expect(
      summaries.some((summary) => made.test(summary)),
      title.one,
    ).toBe(true)
  }
})
