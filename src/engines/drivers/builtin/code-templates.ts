import templates from './code-templates.json'

export type Language = 'python' | 'javascript' | 'typescript' | 'go'

/** A small program people ask for, written out by hand per language. */
export type Template = { asked: RegExp; title: string; code: Partial<Record<Language, string>> }

/** Programs are data, not code of ours, so they live in a file of their own, line by line. */
export const TEMPLATES: readonly Template[] = templates.map(({ asked, title, code }) => ({
  asked: new RegExp(asked, 'i'),
  title,
  code: Object.fromEntries(Object.entries(code).map(([language, lines]) => [language, lines.join('\n')])),
}))
