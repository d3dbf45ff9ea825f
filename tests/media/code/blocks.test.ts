import { describe, expect, test } from 'bun:test'
import { checkSyntax, codeBlocks, safePath } from '../../../src/media/code'

const nameOf = (answer: string) => codeBlocks(answer).map(({ path, named, language }) => [path, named, language])
const fence = (info: string, content = 'x') => `\`\`\`${info}\n${content}\n\`\`\``

describe('the name of a block of code (docs/api.md 6)', () => {
  test.each([
    ['behind the language', fence('ts src/a.ts'), 'src/a.ts', 'typescript'],
    ['in its place', fence('src/App.tsx'), 'src/App.tsx', 'tsx'],
    ['as a title', fence('py title="b/c.py"'), 'b/c.py', 'python'],
    ['as a file name', fence('js filename=x.mjs'), 'x.mjs', 'javascript'],
    ['as a heading above', `### \`lib/a.go\`\n\n${fence('go')}`, 'lib/a.go', 'go'],
    ['in bold above', `Then **index.html**:\n${fence('html')}`, 'index.html', 'html'],
    ['after a number', `1. File: main.rs\n${fence('rust')}`, 'main.rs', 'rust'],
    ['in its first comment', fence('', '// main.go\npackage main'), 'main.go', 'go'],
    ['without an ending', `Dockerfile\n${fence('dockerfile', 'FROM x')}`, 'Dockerfile', 'dockerfile'],
    ['that leads out of the project', fence('../../etc/passwd.txt'), 'etc/passwd.txt', ''],
  ])('%s', (_, answer, path, language) => {
    expect(nameOf(answer)).toEqual([[path, true, language]])
  })

  test.each([
    ['a sentence above', `This is how it works with x.\n${fence('js')}`, 'code-1.js'],
    ['no word at all', fence(''), 'code-1.txt'],
    ['a comment that is a sentence', fence('python', '# prints 1.5 times\nx'), 'code-1.py'],
    ['a label of no language', fence('constructor'), 'code-1.txt'],
  ])('is made up for %s', (_, answer, path) => {
    expect(nameOf(answer)).toEqual([[path, false, expect.any(String) as never]])
  })

  test('is given once', () => {
    expect(nameOf(`${fence('ts a.ts')}\n${fence('ts A.ts')}`).map(([path]) => path)).toEqual(['a.ts', 'code-2.ts'])
  })

  test.each([
    ['../../a.ts', 'a.ts'],
    ['/etc/x', 'etc/x'],
    ['C:\\x\\y.ts', 'x/y.ts'],
    ['a/./b//c.js', 'a/b/c.js'],
    ['a\u202eb\u0000.ts', 'ab.ts'],
    ['.env', '.env'],
    ['..', null],
    ['', null],
    ['x'.repeat(300), null],
  ])('%p stays below its folder as %p (O1)', (wanted, path) => {
    expect(safePath(wanted)).toBe(path)
  })
})

describe('the check of syntax', () => {
  test.each([
    ['json', '{"a": 1}', 'ok', null],
    ['json', '{"a": 1,}', 'error', null],
    ['typescript', 'enum A { B }\nexport type X = <T>(x: T) => T\n@dec class Y {}', 'ok', null],
    ['typescript', 'let a = 1\nlet b: = 2', 'error', 2],
    ['tsx', 'export const A = () => <p>{1}</p>', 'ok', null],
    ['javascript', 'await f(); return 1', 'ok', null],
    ['javascript', 'import x from "./x" with { type: "macro" }\nx()', 'ok', null],
    ['javascript', 'function (', 'error', 1],
    ['yaml', 'a:\n  - 1', 'ok', null],
    ['yaml', 'a: [1', 'error', null],
    ['toml', 'a = 1', 'ok', null],
    ['toml', 'a = ', 'error', null],
    ['python', 'def (', 'unchecked', null],
    ['constructor', 'x', 'unchecked', null],
    ['json', `[${'1,'.repeat(60_000)}1]`, 'unchecked', null],
  ])('%s %p is %s', (language, content, status, line) => {
    expect(checkSyntax(language, content)).toMatchObject({ status, line })
  })

  test('ends for nesting without end, and for YAML that unfolds', () => {
    expect(checkSyntax('javascript', '['.repeat(90_000)).status).toBe('error')
    expect(checkSyntax('json', '['.repeat(90_000)).status).toBe('error')
    const bomb = [
      'a: &a [x,x,x]',
      ...'bcdefghij'.split('').map((name, at) => `${name}: &${name} [*${'abcdefghi'[at]}]`),
    ]
    expect(checkSyntax('yaml', bomb.join('\n')).status).toBe('ok')
  })
})
