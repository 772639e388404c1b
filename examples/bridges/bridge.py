"""bridge.py - what bridges between a plant's network and `rehearse deploy` share.

A bridge reads the sensors once a period, sends them to `rehearse deploy` as a JSON line, and writes
the action of the reply. It is described by an INI file (docs/bridges.md):

    [connection]   what the bridge itself needs; period = seconds
    [sensors]      name of best.yaml = where it is read
    [actions]      name = where it is written
    [values]       of a discrete action: label = number that is written; its index without this
    [signals]      reward, start, terminal, truncated: read; heartbeat: written
    [taken]        name = where the action that is really in force is read
    [controller]   name = where the plant's own controller says what it would do
    [advice]       name = where a proposal is written that nobody has to follow

1. A value of bad quality is missing (null): the agent's guard decides what is done then.
2. Observations are numbered by periods, so what was lost while the plant was away is a gap, and
   is not learned over. An action that was not written leaves a number out, and so does one in
   [taken] that has no name; such a one in [controller] is not sent.
3. Only actions to be taken are written to [actions]; proposals (shadow, advice) are not.
4. The heartbeat counts actions that were written. When it stands still, nobody acts or the
   agent is gone: the plant must go back to its own control.
5. A mistake in the file is refused before the agent begins. A plant that is away is waited for.
"""
import configparser
import json
import math
import re
import select
import signal
import subprocess
import sys
import time

READ = ("reward", "start", "terminal", "truncated")
SECTIONS = ("connection", "sensors", "actions", "values", "signals", "taken", "controller", "advice")
ANSWER = 10  # seconds that the agent may take
LONGEST = 30  # seconds between two attempts to connect


class Wrong(Exception):
    """The file or the command line is wrong."""


class Lost(Exception):
    """The plant cannot be reached."""


def say(text):
    print(f"bridge: {text}", file=sys.stderr, flush=True)


# ------------------------------------------------------------------------------ files


def read_task(path):
    """Names of sensors that the plant sends, labels of a discrete action or None, action names."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise Wrong(f"{path}: {error.strerror}") from None
    task = re.search(r"^task:\n((?:[ #].*\n?)*)", text, re.M)
    if not task:
        raise Wrong(f"{path}: no section task, expected best.yaml of a study")
    task = task[1]
    named = r'\{name: ("(?:[^"\\]|\\.)*"|[^,}]*)'
    listed = re.search(r"^  sensors:.*\n((?:    .*\n)*)", task, re.M)
    sensors = [label(x) for x in re.findall(named, listed[1] if listed else "")]
    sent = re.search(r"^  sent: (\d+)", task, re.M)
    actions = re.search(r"^  actions: \[(.*)\]", task, re.M)
    if not sensors or not actions:
        raise Wrong(f"{path}: task has no sensors and actions as `rehearse tune` writes them")
    numbers = re.findall(named, actions[1])
    labels = None if numbers else [label(x) for x in re.findall(r'"(?:[^"\\]|\\.)*"|[^", ]+', actions[1])]
    one = re.search(r"^  action: (.*)$", task, re.M)
    names = [label(x) for x in numbers] or [label(one[1].strip()) if one else "action"]
    return sensors[:int(sent[1])] if sent else sensors, labels, names


def label(text):
    return json.loads(text) if text.startswith('"') else text.strip()


class Spec:
    """A bridge's file, checked against best.yaml."""

    def __init__(self, path, best, connection):
        """connection: {key: initial value, or None where it has to be given}."""
        self.path = path
        parser = configparser.ConfigParser(delimiters=("=",), interpolation=None,
                                           inline_comment_prefixes=("#",), default_section=None)
        parser.optionxform = str
        try:
            with open(path, encoding="utf-8") as file:
                parser.read_file(file)
        except OSError as error:
            raise Wrong(f"{path}: {error.strerror}") from None
        except configparser.Error as error:
            raise Wrong(f"{path}: {str(error).splitlines()[0]}") from None
        for name in parser.sections():
            if name not in SECTIONS:
                raise Wrong(f"{path}: section [{name}], expected one of {', '.join(SECTIONS)}")
        part = {name: dict(parser[name]) if parser.has_section(name) else {} for name in SECTIONS}
        self.sensors, self.labels, self.names = read_task(best)
        self.reads, self.writes = {}, {}  # (section, name): address
        self.check_names("sensors", part["sensors"], self.sensors, True)
        for section in ("actions", "taken", "controller", "advice"):
            self.check_names(section, part[section], self.names, section == "actions")
        self.check_names("signals", part["signals"], (*READ, "heartbeat"), False)
        for section in ("sensors", "taken", "controller", "signals"):
            self.reads.update({(section, k): v for k, v in part[section].items() if k != "heartbeat"})
        for section in ("actions", "advice", "signals"):
            self.writes.update({(section, k): v for k, v in part[section].items() if k not in READ})
        self.values = self.check_values(part["values"])
        self.settings = self.check_settings(part["connection"], {"period": "1", **connection})
        self.period = self.number("period")

    def check_names(self, section, given, known, all_of_them):
        for name in given:
            if name not in known:
                raise Wrong(f"{self.path}: [{section}] {name}, expected one of {', '.join(known)}")
        for name in known:
            if (all_of_them or given) and section != "signals" and name not in given:
                raise Wrong(f"{self.path}: no {name} in [{section}], expected where it is "
                            + ("written" if section in ("actions", "advice") else "read"))

    def check_values(self, given):
        if given and self.labels is None:
            raise Wrong(f"{self.path}: [values], expected none: actions are continuous")
        values = {name: float(i) for i, name in enumerate(self.labels or [])}
        if given:
            self.check_names("values", given, list(values), True)
            try:
                values = {name: float(x) for name, x in given.items()}
            except ValueError as error:
                raise Wrong(f"{self.path}: [values]: {error}") from None
        return values

    def check_settings(self, given, known):
        for name in given:
            if name not in known:
                raise Wrong(f"{self.path}: [connection] {name}, expected one of {', '.join(known)}")
        for name, initial in known.items():
            if initial is None and name not in given:
                raise Wrong(f"{self.path}: no {name} in [connection]")
        return {**known, **given}

    def number(self, name):
        try:
            x = float(self.settings[name])
        except ValueError:
            x = math.nan
        if not 0 < x < math.inf:
            raise Wrong(f"{self.path}: {name} = {self.settings[name]}, expected a number above 0")
        return x


# ------------------------------------------------------------------------------ the agent


class Agent:
    """`rehearse deploy` on a pipe."""

    def __init__(self, command):
        self.command = command
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            start_new_session=True)
        except OSError as error:
            raise Wrong(f"{command[0]}: {error.strerror}") from None

    def ask(self, message):
        """The reply; None: there is no agent any more."""
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return None
        line = b""
        until = time.monotonic() + ANSWER
        while not line.endswith(b"\n"):
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            more = self.process.stdout.read1()
            if not more:
                return None
            line += more
        return json.loads(line)

    def end(self):
        """Let it save and end; its exit code."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            return self.process.wait(ANSWER)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


# ------------------------------------------------------------------------------ the bridge


class Bridge:
    """plant: connect(first), read(keys), write({key: number}) (False: refused), wait(seconds), close()."""

    def __init__(self, spec, plant):
        self.spec, self.plant = spec, plant
        self.stopped = False
        self.beat = 0
        self.left_out = 0  # numbers of observations
        self.ended = False  # True: the next observation begins an episode

    def stop(self, *_):
        self.stopped = True

    def connect(self, first):
        pause = 1
        while not self.stopped:
            try:
                self.plant.connect(first)
                say(f"connected to {self.plant}")
                return
            except Lost as error:
                say(f"{self.plant}: {error}; again in {pause} s")
            until = time.monotonic() + pause
            while not self.stopped and time.monotonic() < until:
                time.sleep(0.1)
            pause = min(2 * pause, LONGEST)

    def message(self, seq, values):
        """The observation as `rehearse deploy` expects it; values: None where missing."""
        spec = self.spec
        found = {"time": time.time(),
                 "obs": {name: values[("sensors", name)] for name in spec.sensors}}
        for name in READ:
            x = values.get(("signals", name))
            if x is not None:
                found[name] = x if name == "reward" else bool(x)
        if self.ended and "start" not in found:
            found["start"] = True
        for section, key in (("taken", "action"), ("controller", "controller")):
            said = [values.get((section, name)) for name in spec.names]
            if None not in said:
                found[key] = self.label_of(said[0]) if spec.labels else said
            if found.get(key, "") is None:  # no action of the agent's
                del found[key]
                self.left_out += section == "taken"
        return {"seq": seq + self.left_out, **found}

    def label_of(self, x):
        return next((name for name, value in self.spec.values.items() if value == x), None)

    def numbers_of(self, reply):
        """What is written for a reply."""
        spec, action = self.spec, reply.get("action")
        found = {}
        section = "advice" if reply["source"] in ("advice", "shadow") else "actions"
        if action is not None:
            numbers = [spec.values[spec.labels[reply["index"]]]] if spec.labels else action
            numbers = numbers if isinstance(numbers, list) else [numbers]
            found.update({(section, name): x for name, x in zip(spec.names, numbers)})
        return {key: x for key, x in found.items() if key in spec.writes}

    def turn(self, agent, seq):
        """One period. False: there is no agent any more."""
        values = self.plant.read(self.spec.reads)
        message = self.message(seq, values)
        reply = agent.ask(message)
        if reply is None:
            return False
        if "error" in reply:
            say(reply["error"])
        self.ended = bool(message.get("terminal") or message.get("truncated"))
        self.write(self.numbers_of(reply))
        return True

    def write(self, numbers):
        """An action, then the heartbeat if it is in force."""
        acts = any(section == "actions" for section, _ in numbers)
        self.left_out += acts
        if not self.plant.write(numbers) or not acts:
            return
        self.left_out -= 1
        self.beat = (self.beat + 1) % 32768
        if ("signals", "heartbeat") in self.spec.writes:
            self.plant.write({("signals", "heartbeat"): self.beat})

    def run(self, command):
        """Until a signal comes. Returns the exit code."""
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self.stop)
        self.connect(True)
        if self.stopped:
            return 0
        agent = Agent(command)
        began, seq, alive = time.monotonic(), 0, True
        while not self.stopped and alive:
            try:
                alive = self.turn(agent, seq)
            except Lost as error:
                say(f"{self.plant}: lost: {error}")
                self.plant.close()
                self.connect(False)
            seq = max(seq + 1, math.ceil((time.monotonic() - began) / self.spec.period))
            while not self.stopped and (left := began + seq * self.spec.period - time.monotonic()) > 0:
                self.plant.wait(min(left, 0.2))
        code = agent.end()
        self.plant.close()
        if not alive:
            say(f"{' '.join(command)}: no answer, exit code {code}")
        return 0 if alive else 1


def main(name, make, connection, words):
    """The program: name FILE.ini BEST.yaml [options of rehearse deploy]."""
    program = "rehearse"
    if words[:1] == ["--rehearse"] and len(words) > 1:
        program, words = words[1], words[2:]
    try:
        if len(words) < 2:
            raise Wrong(f"{len(words)} names, expected two: {name} FILE.ini BEST.yaml [options of rehearse deploy]")
        spec = Spec(words[0], words[1], connection)
        return Bridge(spec, make(spec)).run([program, "deploy", *words[1:]])
    except Wrong as error:
        say(error)
        return 2
