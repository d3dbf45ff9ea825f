import { column, idColumn } from '../output/columns'
import { resourceCommands } from './resource-commands'

/** Canvases (contract 9). Compiling, testing and publishing them is for their editor. */
export const canvasCommands = resourceCommands({
  path: 'canvases',
  resource: 'canvases',
  what: 'canvas',
  many: 'canvases',
  columns: [
    idColumn,
    column('name', 'NAME'),
    column('status', 'STATUS'),
    column('isPublic', 'PUBLIC', { kind: 'flag' }),
    column('publishedSkillId', 'SKILL', { wide: true }),
    column('description', 'DESCRIPTION', { wide: true }),
    column('createdAt', 'CREATED', { kind: 'time', wide: true }),
    column('updatedAt', 'CHANGED', { kind: 'time' }),
  ],
  id: '9c3a1d44-5b0e-4f43-8b30-7d3c7f1f4e21',
  file: 'canvas.json',
  arg: 'canvas',
  stays: 'The skill published from it stays.',
})
