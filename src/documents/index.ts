/** Documents: text laid out as PDF, DOCX, PPTX, XLSX and CSV, from one model of blocks. */
export { artifactOf } from './schema'
export { createDocuments, type Documents } from './service'
