#!/usr/bin/env python3
"""What documents, alerts and settings say of each other and of the code, checked: check-docs.py CHECK…

  metrics   names, labels and label values in the alerts and documents are those of the code
  alerts    each alert has its place in docs/OPERATIONS.md, and the other way round
  config    each key of config/ordem.toml has a comment directly above it
  links     each relative link in a *.md leads somewhere, its #anchor included
  commands  docker compose and kubectl are called in one way, and no autoscaled deployment is scaled by hand

Prints what is wrong, one line each, and ends with 1 where anything is.
"""
import re
import subprocess
import sys
from pathlib import Path

METRICS_RS = Path('crates/service/src/metrics.rs')
METRICS_MD = Path('docs/METRICS.md')
OPERATIONS = Path('docs/OPERATIONS.md')
RULES = Path('deploy/monitoring/prometheus-rules.yaml')
RULES_TEST = Path('deploy/monitoring/prometheus-rules.test.yaml')
CONFIG = Path('config/ordem.toml')
# Schemas and database roles are named like metrics.
NO_METRIC = re.compile(r'ordem_(engine|operator|(receiver|applier|publisher|reconciler)(_login)?)')
FREE_LABELS = {'source', 'destination', 'effect'}  # names from the configuration
FOREIGN_LABELS = {'instance', 'job', 'le', 'alertname', 'alertstate'}


def documents():
    listed = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md'],
                            check=True, capture_output=True, text=True).stdout
    return [path for path in map(Path, sorted(filter(None, listed.split('\0')))) if path.exists()]


def cells(line):
    return [cell.strip() for cell in line.strip().strip('|').split('|')]


def ticked(text):
    return re.findall(r'`([^`]+)`', text)


class Metrics:
    """The metrics by the code, and by docs/METRICS.md."""

    def __init__(self):
        self.in_code, self.in_docs, self.values = {}, {}, {}
        comment = ''
        for line in METRICS_RS.read_text().splitlines():
            if line.startswith('///'):
                comment += line[3:]
            elif found := re.match(r'pub const \w+: &str = "(\w+)";', line):
                labels = re.sub(r'\([^)]*\)', '', comment.partition('Labels:')[2])
                self.in_code[found[1]] = set(ticked(labels))
                comment = ''
            else:
                comment = ''
        for line in METRICS_MD.read_text().splitlines():
            if not line.startswith('| `ordem_'):
                continue
            row = cells(line)
            name = ticked(row[0])[0]
            if len(row) == 4:
                self.in_docs[name] = (row[1], set(ticked(row[2])))
            else:
                self.values[name, ticked(row[1])[0]] = ticked(row[2].partition(';')[0])

    def base(self, name):
        """The metric that a series belongs to."""
        bare = re.sub(r'_(bucket|sum|count)$', '', name)
        return bare if self.in_docs.get(bare, ('',))[0] == 'histogram' else name

    def allows(self, name, label, operator, value):
        """Whether some series of this metric has such a value of this label."""
        known = self.values.get((name, label), [])
        if label == 'secret':
            known = [str(place) for place in range(10)]
        words = value.split('|') if '~' in operator else [re.escape(value)]
        return all(any(re.fullmatch(word, one) for one in known) for word in words)


def check_metrics():
    metrics = Metrics()
    labels = set().union(*metrics.in_code.values()) | FOREIGN_LABELS
    for name, its in metrics.in_code.items():
        if name not in metrics.in_docs:
            yield f'{METRICS_MD}: {name} is missing'
        elif metrics.in_docs[name][1] != its:
            yield f'{METRICS_MD}: {name} has the labels {sorted(its)} by {METRICS_RS}'
        for label in its - FREE_LABELS:
            if not metrics.values.get((name, label)):
                yield f'{METRICS_MD}: the values of {label} of {name} are missing'
    code = '\n'.join(path.read_text() for path in Path('crates').glob('*/src/**/*.rs'))
    for (name, label), values in metrics.values.items():
        if label not in metrics.in_code.get(name, ()):
            yield f'{METRICS_MD}: {name} has no label {label}'
        for value in values if label not in ('status', 'secret') else ():
            if f'"{value}"' not in code:
                yield f'{METRICS_MD}: no program says {label}="{value}"'
    for path in [RULES, RULES_TEST, *documents()]:
        text = path.read_text()
        for name in sorted(set(re.findall(r'\bordem_[a-z_]+\b', text))):
            if metrics.base(name) not in metrics.in_code and not (path.suffix == '.md' and NO_METRIC.fullmatch(name)):
                yield f'{path}: there is no metric {name}'
        for name, matchers in re.findall(r'\b(ordem_\w+)\{([^}]*)\}', text):
            base = metrics.base(name)
            for label, operator, value in re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', matchers):
                if label in FOREIGN_LABELS or value == '…':
                    continue
                if label not in metrics.in_code.get(base, ()):
                    yield f'{path}: {name} has no label {label}'
                elif label not in FREE_LABELS and not metrics.allows(base, label, operator, value):
                    yield f'{path}: {name} is never {label}{operator}"{value}"'
        if path in (RULES, RULES_TEST):
            grouped = ','.join(re.findall(r'\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)', text))
            used = re.findall(r'\w+', grouped) + re.findall(r'\$labels\.(\w+)', text)
            for label in sorted(set(used) - labels):
                yield f'{path}: no metric has a label {label}'


def check_alerts():
    ours = re.findall(r'^\s*- alert: (\w+)', RULES.read_text(), re.M)
    table = ' '.join(line for line in OPERATIONS.read_text().splitlines() if line.startswith('| `Ordem'))
    told = re.findall(r'`(Ordem\w+)`', table)
    for name in sorted(set(ours) ^ set(told)):
        yield f'{OPERATIONS}: {name} is not in {"the table" if name in ours else RULES}'
    for name in sorted(set(re.findall(r'`(Ordem[A-Z]\w+)`', OPERATIONS.read_text())) - set(ours) - set(told)):
        yield f'{OPERATIONS}: there is no alert {name}'
    for name in sorted(set(re.findall(r'Ordem[A-Z][a-z]\w+(?![\w.])', RULES_TEST.read_text())) - set(ours)):
        yield f'{RULES_TEST}: there is no alert {name}'


def check_config():
    statuses, section, before = Metrics().values['ordem_receiver_requests_total', 'status'], '', ''
    for number, line in enumerate(CONFIG.read_text().splitlines(), 1):
        if found := re.match(r'\[+([\w.]+)\]', line):
            section = found[1]
        elif re.match(r'[\w."-]+\s*=', line) and not before.startswith('#'):
            yield f'{CONFIG}:{number}: {section}.{line.split("=")[0].strip()} has no comment above it'
        elif line.startswith('#') and section == 'receiver':
            for status in re.findall(r'\b[345]\d\d\b', line):
                if status not in statuses:
                    yield f'{CONFIG}:{number}: the receiver never answers {status}'
        before = line


def prose(text):
    """Without code, in which brackets mean other things."""
    return re.sub(r'`[^`\n]*`', '', re.sub(r'^( *)```.*?^ *```', '', text, flags=re.M | re.S))


def anchors(text):
    """The names of a document's headings, as they are on the page of a repository."""
    seen = {}
    for heading in re.findall(r'^#+ +(.+?)\s*$', re.sub(r'^ *```.*?^ *```', '', text, flags=re.M | re.S), re.M):
        words = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).replace('`', '').lower()
        slug = re.sub(r'[^\w\- ]', '', words).replace(' ', '-')
        seen[slug] = seen.get(slug, -1) + 1
        yield slug if seen[slug] == 0 else f'{slug}-{seen[slug]}'
    yield from re.findall(r'<a id="([^"]+)"></a>', text)


def check_links():
    for path in documents():
        text = prose(path.read_text())
        for link in re.findall(r'\]\(\s*<?([^)\s>]+)', text) + re.findall(r'^\[[^\]]+\]:\s*(\S+)', text, re.M):
            if re.match(r'[a-z][a-z0-9+.-]*:', link):
                continue
            target, _, anchor = link.partition('#')
            there = path.parent / target if target else path
            if not there.exists():
                yield f'{path}: {link} leads nowhere'
            elif anchor and there.suffix == '.md' and anchor not in anchors(there.read_text()):
                yield f'{path}: {link}: {there} has no such heading'


def check_commands():
    scaled = set()
    for path in Path('deploy/kubernetes').glob('**/*.yaml'):
        for part in path.read_text().split('\n---'):
            if re.search(r'^kind: HorizontalPodAutoscaler', part, re.M):
                scaled |= set(re.findall(r'scaleTargetRef:.*?name: (\S+)', part, re.S))
    for path in documents():
        text = path.read_text()
        code = re.findall(r'`([^`\n]+)`', text)
        code += [line for block in re.findall(r'^ *```.*?^ *```', text, re.M | re.S) for line in block.splitlines()]
        for command in code:
            if re.search(r'\bdocker-compose\s+\w', command):
                yield f'{path}: {command}: written `docker compose` everywhere'
            for words in re.findall(r'\bkubectl\s+([^|;&#]+)', command):
                if re.match(r'(create namespace|apply -k|kustomize)\b', words) or len(words.split()) < 2:
                    continue
                if not re.search(r'(-n|--namespace)[ =]ordem\b', words):
                    yield f'{path}: {command}: has no -n ordem'
                hand = re.search(r'\bscale deployment/(\w+).*--replicas=([1-9])', words)
                if hand and hand[1] in scaled:
                    yield f'{path}: {command}: the autoscaler takes it back, patch hpa/{hand[1]}'


CHECKS = {name[6:]: check for name, check in list(globals().items()) if name.startswith('check_')}


def main():
    names = sys.argv[1:] or list(CHECKS)
    if not set(names) <= set(CHECKS):
        sys.exit(__doc__)
    wrong = [line for name in names for line in CHECKS[name]()]
    for line in wrong:
        print(f'  {line}')
    sys.exit(1 if wrong else 0)


main()
