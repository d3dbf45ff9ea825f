import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Canvas, CanvasGraph } from '../../../src/automation/canvases-schema'
import { createWorld, type Person } from '../../support/world'
import { graph, INPUT, MODEL, node, OUTPUT } from './drawing'
import { AUTHOR } from './world'

const world = await createWorld()

/** Canvases that tell by what they compile to which of them they are; `broken` compiles to nothing. */
const saying = (content: string) =>
  graph([INPUT, node('p', 'prompt', { content }), MODEL, OUTPUT], ['in>p', 'p>model', 'model>out'])
const GRAPHS: Record<string, CanvasGraph> = {
  one: saying('one'),
  two: saying('two'),
  broken: { nodes: [INPUT, OUTPUT], edges: [] },
}

type Act = 'draw one' | 'draw two' | 'draw broken' | 'rename' | 'compile' | 'publish' | 'restore'
const ACTS: Act[] = ['draw one', 'draw two', 'draw broken', 'rename', 'compile', 'publish', 'restore']
/** The table of docs/api.md 9 and 24. */
type Model = { drawn: string; status: 'draft' | 'testing' | 'published'; published: string[] }

function expected(model: Model, act: Act): Model {
  const [verb, what] = act.split(' ') as [string, string | undefined]
  if (verb === 'draw') return what === model.drawn ? model : { ...model, drawn: what!, status: 'draft' }
  if (verb === 'restore')
    return model.published.length ? { ...model, drawn: model.published.at(-1)!, status: 'draft' } : model
  if (verb === 'rename' || model.drawn === 'broken') return model
  if (verb === 'compile') return { ...model, status: 'testing' }
  return { ...model, status: 'published', published: [...model.published, model.drawn] }
}

let slugs = 0
async function canvas(ada: Person) {
  const slug = `states-${++slugs}`
  const { body } = await ada.send('POST', 'evi/canvases', { name: 'States', graph_json: GRAPHS.one })
  const path = `evi/canvases/${body.canvas.id}`
  let version = 0
  const act = async (name: Act) => {
    const [verb, what] = name.split(' ') as [string, string | undefined]
    if (verb === 'draw') return ada.send('PATCH', path, { graph_json: GRAPHS[what!] })
    if (verb === 'rename') return ada.send('PATCH', path, { name: 'Other' })
    if (verb === 'compile') return ada.send('POST', `${path}/compile`)
    if (verb === 'publish')
      return ada.send('POST', `${path}/publish`, { slug, version: `1.0.${++version}`, author: AUTHOR })
    const [newest] = (await ada.send('GET', `${path}/versions`)).body.versions
    return ada.send('POST', `${path}/versions/${newest?.id ?? 'none'}/restore`)
  }
  const read = async () => (await ada.send('GET', path)).body.canvas
  const versions = async (): Promise<CanvasGraph[]> =>
    (await ada.send('GET', `${path}/versions`)).body.versions.map(
      ({ graphJson }: { graphJson: CanvasGraph }) => graphJson,
    )
  return { act, read, versions }
}

const nameOf = (drawn: CanvasGraph): string => Object.entries(GRAPHS).find(([, one]) => Bun.deepEquals(one, drawn))![0]

/** What is true of every canvas: it is compiled unless it is a draft, and to what is drawn on it. */
function holdsTogether({ status, graphJson, compiledManifest, compiledWorkflowSteps }: Canvas): void {
  const isDraft = status === 'draft'
  expect(compiledManifest === null).toBe(isDraft)
  expect(compiledWorkflowSteps === null).toBe(isDraft)
  if (!isDraft) expect(compiledManifest?.systemPromptExtension).toBe(nameOf(graphJson))
}

describe('the states of a canvas (docs/api.md 9, 24)', () => {
  test('are those of the table, whatever is done in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...ACTS), { maxLength: 9 }), async (acts) => {
        const { act, read, versions } = await canvas(await world.person())
        let model: Model = { drawn: 'one', status: 'draft', published: [] }
        for (const name of acts) {
          await act(name)
          model = expected(model, name)
          const now = await read()
          expect(nameOf(now.graphJson)).toEqual(model.drawn)
          expect(now.status).toEqual(model.status)
          holdsTogether(now)
        }
        expect((await versions()).map(nameOf).reverse()).toEqual(model.published)
      }),
      { numRuns: 40 },
    )
  }, 60_000)

  test('stay whole when everything is done at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...ACTS), { minLength: 4, maxLength: 9 }), async (acts) => {
        const { act, read } = await canvas(await world.person())
        const replies = await Promise.all(acts.map((name) => act(name)))
        for (const { status } of replies) expect([200, 404, 409, 422]).toContain(status)
        holdsTogether(await read())
      }),
      { numRuns: 40 },
    )
  }, 60_000)
})
