// SQLite only: nothing of the database differs here from other pictures.
import { describe, expect, test } from 'bun:test'
import { createIllustrator } from '../../src/media'
import { compose, readPrompt } from '../../src/media/scenes'
import type { Shape } from '../../src/media/scenes/model'
import { createWorld } from '../support/world'

const namesIn = (prompt: string): string[] => readPrompt(prompt, [], null).subjects.map(({ motif }) => motif.name)
const textsOf = (shapes: readonly Shape[]): string[] =>
  shapes.flatMap((shape) =>
    shape.type === 'group' ? textsOf(shape.children) : shape.type === 'text' ? [shape.text] : [],
  )
const sceneOf = (prompt: string) =>
  compose({ prompt, changes: [], style: null, width: 600, height: 600, variant: 0 }).shapes

describe('what a description names', () => {
  test.each([
    ['a fox and two wolves', ['fox', 'wolf']],
    ['a shark', []],
    ['a truck on a bridge', ['bridge']],
    ['a violin', []],
  ])('%s is drawn as itself or not at all', (prompt, names) => {
    expect(namesIn(prompt)).toEqual(names)
  })

  test.each([
    ['an astronaut riding a unicorn', ['unicorn']],
    ['a bowl of ramen with chopsticks', ['bowl of ramen']],
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
    expect(textsOf(sceneOf('a bowl of ramen'))).toEqual(['Bowl of ramen'])
    expect(textsOf(sceneOf('ein Fahrrad aus Glas')).join(' ')).toBe('Ein Fahrrad aus Glas')
    expect(textsOf(sceneOf('abstract geometric art'))).toEqual([])
  })

  test('labels of a chart are those of its rows', () => {
    const { chart } = readPrompt('bar chart of apples 10, pears 25', [], null)
    expect(chart).toMatchObject({ title: 'Figures', rows: [{ label: 'apples' }, { label: 'pears' }] })
  })
})

test('an answer says what its illustration leaves out', async () => {
  const world = await createWorld()
  const ada = await world.person()
  const made = await ada.send('POST', 'images', { prompt: 'an astronaut riding a unicorn', image_quality: 'draft' })
  expect(made.body.warnings).toEqual(['Local illustrations have no picture of: unicorn.'])
  const notice = await ada.send('POST', 'completions', { prompt: 'an astronaut riding a unicorn', mode: 'image' })
  expect(notice.body.content).toEndWith('It has no picture of: unicorn.')
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
