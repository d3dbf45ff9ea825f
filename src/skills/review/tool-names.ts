import { type Finding, fail, type ManifestCheck } from './check'

/** Words that promise to run code or a shell (contract 8.2). */
const FORBIDDEN = new Set([
  ...['exec', 'execute', 'shell', 'bash', 'eval', 'sudo', 'spawn', 'subprocess', 'system'],
  ...['powershell', 'zsh', 'popen', 'cmd'],
])

/** Names of this server's own tools, and of what every object has. */
const TAKEN = new Set([
  ...['web_search', 'web_fetch', 'code_execute', 'save_memory', 'search_memory', 'deep_research'],
  ...['generate_image', 'generate_video', 'generate_code', 'generate_document'],
  ...['__proto__', 'constructor', 'prototype', 'tostring', 'valueof', 'hasownproperty'],
])
const TAKEN_PREFIXES = ['browser_', 'svc_']

/** Tools are named for what they do, by names of their own. */
export const checkToolNames: ManifestCheck = ({ tools }) => {
  const first = new Map<string, number>()
  return tools.flatMap(({ name }, at): Finding[] => {
    const path = `tools[${at}].name`
    const earlier = first.get(name)
    first.set(name, earlier ?? at)
    const word = name.split('_').find((part) => FORBIDDEN.has(part))
    const isOurs = TAKEN.has(name) || TAKEN_PREFIXES.some((prefix) => name.startsWith(prefix))
    return [
      ...(word
        ? [fail(path, `"${path}" is "${name}"; "${word}" stands for running code or a shell, which skills may not.`)]
        : []),
      ...(isOurs ? [fail(path, `"${path}" is "${name}", which is a name of this server's own. Choose another.`)] : []),
      ...(earlier === undefined ? [] : [fail(path, `"${path}" is "${name}", the name of tools[${earlier}] too.`)]),
    ]
  })
}
