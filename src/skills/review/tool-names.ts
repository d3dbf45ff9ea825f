import { type Finding, fail, type ManifestCheck } from './check'

/** Words that suggest running code or a shell (docs/api.md 8.2). */
const FORBIDDEN = new Set([
  'exec',
  'execute',
  'shell',
  'bash',
  'eval',
  'sudo',
  'spawn',
  'subprocess',
  'system',
  'powershell',
  'zsh',
  'sh',
  'popen',
  'cmd',
])

/** Pairs of words that together suggest running code, in either order: `run_code`, `runcode`, `python_runner`. */
const DOING = ['run', 'runs', 'runner', 'execution', 'executor', 'interpret', 'interpreter']
const CODE = ['code', 'command', 'commands', 'script', 'scripts', 'python', 'javascript', 'shell', 'bash']
const TOGETHER = new Set(
  DOING.flatMap((doing) =>
    CODE.flatMap((code) => [doing + code, code + doing, `${doing}_${code}`, `${code}_${doing}`]),
  ),
)

/** Names of the server's own tools, and of properties every JavaScript object has. */
const TAKEN = new Set([
  'web_search',
  'web_fetch',
  'code_execute',
  'save_memory',
  'search_memory',
  'deep_research',
  'generate_image',
  'generate_video',
  'generate_code',
  'generate_document',
  '__proto__',
  'constructor',
  'prototype',
  'tostring',
  'valueof',
  'hasownproperty',
])
const TAKEN_PREFIXES = ['browser_', 'svc_']

/** Tool names must be unique, must not suggest running code and must not equal a name of the server's own tools. */
export const checkToolNames: ManifestCheck = ({ tools }) => {
  const first = new Map<string, number>()
  return tools.flatMap(({ name }, at): Finding[] => {
    const path = `tools[${at}].name`
    const earlier = first.get(name)
    first.set(name, earlier ?? at)
    const word = forbiddenIn(name)
    const isOurs = TAKEN.has(name) || TAKEN_PREFIXES.some((prefix) => name.startsWith(prefix))
    return [
      ...(word
        ? [
            fail(
              path,
              `"${path}" is "${name}"; "${word}" suggests that it runs code or a shell, which skills must not do.`,
            ),
          ]
        : []),
      ...(isOurs ? [fail(path, `"${path}" is "${name}", which is reserved by this server. Choose another.`)] : []),
      ...(earlier === undefined
        ? []
        : [fail(path, `"${path}" is "${name}", which is also the name of tools[${earlier}].`)]),
    ]
  })
}

/** Letters that look-alike digits stand in for, as in `ex3c`. Trailing digits, as in `bash2`, are dropped instead. */
const LETTER_OF: Readonly<Record<string, string>> = { 0: 'o', 1: 'l', 3: 'e', 4: 'a', 5: 's', 7: 't' }
const spelled = (word: string): string =>
  word.replace(/(?<!\d)\d+$/, '').replace(/[013457]/g, (figure) => LETTER_OF[figure]!)

/** The part of a name that suggests running code, as written in the name. */
function forbiddenIn(name: string): string | undefined {
  const words = name.split('_').filter(Boolean)
  const pairs = words.slice(1).map((word, at) => `${words[at]}_${word}`)
  const isTelling = (word: string) => FORBIDDEN.has(word) || TOGETHER.has(word)
  return [...words, ...pairs].find((part) => isTelling(part) || isTelling(part.split('_').map(spelled).join('_')))
}
