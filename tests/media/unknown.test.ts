// SQLite only: nothing of the database differs here from other pictures.
import { describe, expect, test } from 'bun:test'
import { createIllustrator } from '../../src/media'
import { compose } from '../../src/media/scenes/compose'
import type { Shape } from '../../src/media/scenes/model'
import { iconMotifs } from '../../src/media/scenes/motifs/icons'
import { readPrompt } from '../../src/media/scenes/read'
import { toSvg } from '../../src/media/scenes/svg'
import { createWorld } from '../support/world'

const namesIn = (prompt: string): string[] => readPrompt(prompt, [], null).subjects.map(({ motif }) => motif.name)
const textsOf = (shapes: readonly Shape[]): string[] =>
  shapes.flatMap((shape) =>
    shape.type === 'group' ? textsOf(shape.children) : shape.type === 'text' ? [shape.text] : [],
  )
const sceneOf = (prompt: string) =>
  compose({ prompt, changes: [], style: null, width: 600, height: 600, variant: 0 }).shapes

test('at least 400 things are known by their names, each is one picture, and the same each time', () => {
  const known = iconMotifs().filter(({ words }) => namesIn(`an old ${words[0]} on`).length === 1)
  expect(known.length).toBeGreaterThan(800)
  for (const { name } of known.filter((_, at) => at % 25 === 0)) {
    const order = { prompt: `an old ${name.replaceAll('-', ' ')}`, changes: [], style: null, variant: 0 }
    const drawn = () => toSvg(compose({ ...order, width: 64, height: 64 }))
    expect(drawn()).toBe(drawn())
  }
})

test('a thing has its own colours, and the one that is asked for in place of its main one', () => {
  const svgOf = (prompt: string) =>
    toSvg({ width: 9, height: 9, background: '#ffffff', title: '', shapes: sceneOf(prompt) })
  expect(svgOf('an elephant')).toContain('#9b9b9b')
  expect(svgOf('a blue elephant')).not.toContain('#9b9b9b')
})

describe('what a description names', () => {
  test.each([
    ['a fox and two wolves', ['fox', 'wolf']],
    ['a shark', ['shark']],
    ['a lorry on a bridge', ['articulated-lorry', 'bridge']],
    ['two cherries, an orange and a hot dog', ['cherries', 'tangerine', 'hot-dog']],
    ['an orange cat in black', ['cat']],
    ['a gearbox', []],
    ['a harpsichord', []],
  ])('%s is drawn as itself or not at all', (prompt, names) => {
    expect(namesIn(prompt)).toEqual(names)
  })

  test.each([
    ['an astronaut riding a hoverboard', ['hoverboard']],
    ['a bowl of porridge oats with syrup', []],
    ['a portrait of an old violinist', ['old violinist']],
    ['a red sailboat at sunset', []],
    ['an abstract geometric pattern', []],
    ['a snowy forest at night', []],
    ['a poster that says "a unicorn"', []],
    ['a bar chart of apples 10, pears 25', []],
  ])('in "%s" the unknown is %j', (prompt, unknown) => {
    expect(readPrompt(prompt, [], null).unknown).toEqual(unknown)
  })

  test('stands in words where nothing of it has a picture, but not where forms were asked for', () => {
    expect(textsOf(sceneOf('a harpsichord'))).toEqual(['Harpsichord'])
    expect(textsOf(sceneOf('ein Fahrrad aus Glas')).join(' ')).toBe('Ein Fahrrad aus Glas')
    expect(textsOf(sceneOf('abstract geometric art'))).toEqual([])
  })

  test('labels of a chart are those of its rows', () => {
    const { chart } = readPrompt('bar chart of apples 10, pears 25', [], null)
    expect(chart).toMatchObject({ title: 'Figures', rows: [{ label: 'apples' }, { label: 'pears' }] })
  })
})

test('an answer says what its illustration leaves out', async () => {
  const ada = await (await createWorld()).person()
  const made = await ada.send('POST', 'images', { prompt: 'an astronaut riding a hoverboard', image_quality: 'draft' })
  expect(made.body.warnings).toEqual(['Local illustrations have no picture of: hoverboard.'])
  const notice = await ada.send('POST', 'completions', { prompt: 'an astronaut riding a hoverboard', mode: 'image' })
  expect(notice.body.content).toEndWith('It has no picture of: hoverboard.')
}, 60_000)

test('what takes longer to draw than it may is the 400 of a description with too much in it', async () => {
  const { image } = createIllustrator({ timeoutMs: 0 })
  const { signal } = new AbortController()
  const about = { model: '', changes: [], style: null, aspectRatio: null, quality: 'standard', variant: 0 } as const
  await expect(image({ ...about, prompt: 'a fox', signal })).rejects.toMatchObject({
    code: 'validation_error',
    message: expect.stringContaining('Use a shorter description'),
  })
})
