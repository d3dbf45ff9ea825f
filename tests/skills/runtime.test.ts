import { describe, expect, test } from 'bun:test'
import { createKnowledge, readKeywords, readPrompt } from '../../src/skills/runtime'
import { effortOf } from '../support/effort'
import { createWorld } from '../support/world'
import { manifest, submit } from './support'

describe('the ranking of passages', () => {
  test('is by the words that are asked for: rare ones count more, and texts with more of them come first', () => {
    const knowledgeFiles = {
      'both.md': 'The tide and the rope.',
      'common.md': 'The tide, the tide and once more the tide.',
      'constructor.md': 'The constructor of the __proto__ rope.',
      'long.md': `The tide. ${'Ships wait in the port. '.repeat(20)}`,
    }
    const find = createKnowledge({ knowledgeFiles })!
    const pathsOf = (words: string[], max = 4) => find(words, max).map(({ path }) => path)
    expect(pathsOf(['tide', 'rope'])).toEqual(['both.md', 'constructor.md', 'common.md', 'long.md'])
    expect(pathsOf(['tide'], 2)).toEqual(['common.md', 'both.md'])
    expect(pathsOf(['constructor'])).toEqual(['constructor.md'])
    expect(pathsOf(['moon'])).toEqual([])
    expect(pathsOf([])).toEqual([])
  })

  test.each([
    ['one long word', 'a'.repeat(100_000)],
    ['letters and breaks', 'a\n\n'.repeat(33_000)],
    ['nothing but blanks', ' \n'.repeat(50_000)],
    ['bytes that are no text', '\u0001\u0002\ufffd'.repeat(30_000)],
  ])('takes files of %s', (_, text) => {
    const find = createKnowledge({ knowledgeFiles: { 'a.md': text, 'b.md': 'The tide turns at noon.' } })!
    expect(find(['tide'], 4).map(({ path }) => path)).toEqual(['b.md'])
  })
})

describe('keywords', () => {
  test.each([
    ['mail', 'an email', false],
    ['mail', 'MAIL!', true],
    ['C++', 'write C++ code', true],
    ['C++', 'write C code', false],
    ['e-mail', 'send an E-Mail', true],
    ['e-mail', 'send an e mail', false],
    ['???', 'what ???', true],
    ['größe', 'Welche GRÖSSE, welche Größe?', true],
    ['two words', 'words two', false],
    ['two words', 'my two words.', true],
    [' ', 'any thing . at all', false],
  ])('%p in %p: %p', (keyword, prompt, occurs) => {
    expect(readKeywords([keyword]).occurIn(readPrompt(prompt))).toBe(occurs)
  })

  test('that are many and nearly occur cost no more than reading the prompt', async () => {
    const storms = Array.from({ length: 60 }, (_, skill) =>
      readKeywords(Array.from({ length: 50 }, (_, at) => `${'a'.repeat(100)}${skill}x${at}`)),
    )
    const prompt = `${'a'.repeat(99)} `.repeat(1_000)
    const effort = await effortOf(() => {
      const request = readPrompt(prompt)
      for (const storm of storms) expect(storm.occurIn(request)).toBe(false)
    }, 2)
    expect(effort).toBeLessThan(200)
  })
})

test('of many skills: those a request names take part, and what is left out is said', async () => {
  const world = await createWorld()
  const ada = await world.person()
  const names: string[] = []
  for (let at = 0; at < 43; at++) {
    const author = await world.person()
    const { skillId, slug } = await submit(author, manifest({ systemPromptExtension: `Say ${at} kindly.` }))
    names.push(slug)
    if (at < 42) await ada.send('POST', 'skills', { skillId })
  }
  const last = names.at(-1)!
  const { activeFor } = world.app.container.skills
  const { skills, warnings } = await activeFor(world.callAs(ada), { slugs: [last, names[41]!], prompt: 'hi' })
  const slugs = skills.map(({ slug }) => slug)
  expect(slugs).toHaveLength(40)
  expect(slugs.slice(-2)).toEqual([names[41]!, last])
  expect(warnings).toEqual(['At most 40 skills take part in a run: 3 installed skills were left out.'])
})
