import type { Finding } from '../audit/index.js';
import { describeFinding } from '../audit/index.js';
import { describeViolation, type PropertyResult, type Violation } from '../properties.js';
import { failsOn } from './severity.js';
import type { PolicyReport } from './types.js';

/** A report for a terminal. */
export function describeReport(report: PolicyReport): string {
  const { results, findings, counts, failOn, ok } = report;
  const lines: string[] = [];
  for (const { property, violation, paths, calls } of results)
    lines.push(violation === null ? `✓ ${property.name}   (${calls} calls, ${paths} paths)` : describeViolation(violation));
  if (results.length > 0 && findings.length > 0) lines.push('');
  for (const finding of findings) lines.push(describeFinding(finding));
  const violated = results.filter(({ violation }) => violation !== null).length;
  const failing = findings.filter(({ severity }) => failsOn(severity, failOn)).length;
  const summary = [
    ...(results.length > 0 ? [`${results.length - violated} of ${results.length} properties hold`] : []),
    `${findings.length} findings${findings.length > failing && failing > 0 ? `, ${failing} of them fail the check` : ''}`,
    ...(counts === null ? [] : [`${counts.walks} walks of ${counts.calls} calls on ${counts.paths} paths in ${counts.ms} ms`]),
  ];
  if (lines.length > 0) lines.push('');
  lines.push(`${ok ? 'ok' : 'failed'}: ${summary.join('; ')}`);
  return `${lines.join('\n')}\n`;
}

/** A report as plain JSON. */
export function plainReport({ results, findings, counts, failOn, ok }: PolicyReport): unknown {
  return { ok, failOn, counts, properties: results.map(plainResult), findings };
}

const plainResult = ({ property, paths, calls, violation }: PropertyResult): unknown => ({
  name: property.name,
  holds: violation === null,
  paths,
  calls,
  ...(violation === null ? {} : { violation: plainViolation(violation) }),
});

const plainViolation = ({ problem, path, call, rules, trace, calls, paths }: Violation): unknown => ({
  problem,
  call: { tool: call.tool, input: call.input, text: call.text, ...(call.spelling === undefined ? {} : { spelling: call.spelling }) },
  mode: path.mode,
  path: path.describe(call),
  events: path.events.map(({ type, say }) => ({ type, say })),
  states: path.states,
  rules,
  trace,
  calls,
  paths,
});

/** A report as JUnit XML: one test case for each property and each finding. */
export function junitReport(report: PolicyReport): string {
  const properties = report.results.map(({ property, violation }) =>
    testCase('properties', property.name, violation === null ? null : { message: violation.problem, text: describeViolation(violation) }),
  );
  const findings = report.findings.map((finding) => {
    const failure = failsOn(finding.severity, report.failOn) ? { message: finding.message, text: describeFinding(finding) } : null;
    return testCase('audit', nameOf(finding), failure);
  });
  const cases = [...properties, ...findings];
  const failures = cases.filter((one) => one.includes('<failure')).length;
  const attributes = `name="sixgates check" tests="${cases.length}" failures="${failures}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite ${attributes}>\n${cases.join('\n')}\n</testsuite>\n</testsuites>\n`;
}

const nameOf = ({ kind, subject, file, line }: Finding): string =>
  `${kind}: ${subject}${file === undefined ? '' : ` (${file}:${line ?? 1})`}`;

function testCase(suite: string, name: string, failure: { readonly message: string; readonly text: string } | null): string {
  const head = `<testcase classname="sixgates.${suite}" name="${xml(name)}"`;
  return failure === null ? `${head}/>` : `${head}><failure message="${xml(failure.message)}">${xml(failure.text)}</failure></testcase>`;
}

const xml = (text: string): string =>
  text
    // Characters that XML 1.0 does not have at all.
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
