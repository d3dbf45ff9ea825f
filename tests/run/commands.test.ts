import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import packageJson from '../../package.json'
import { COMMANDS } from '../commands'

test('package.json has at most 20 scripts', () => {
  expect(Object.keys(packageJson.scripts).length).toBeLessThanOrEqual(20)
})

test('every command runs files that are there', () => {
  const files = Object.values(COMMANDS)
    .flatMap((named) => Object.values(named).flatMap(({ runs }) => runs.flat()))
    .filter((word) => word.endsWith('.ts'))
  expect(files.filter((file) => !existsSync(file))).toEqual([])
})

test('files of tests run as tests', () => {
  const runs = Object.values(COMMANDS).flatMap((named) => Object.values(named).flatMap((it) => it.runs))
  expect(runs.filter(([first, file]) => (first === 'test') !== /\.test\.ts$/.test(file ?? first!))).toEqual([])
})
