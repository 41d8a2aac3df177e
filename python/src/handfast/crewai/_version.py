"""The versions of CrewAI that this adapter was made for. Loaded before anything of CrewAI is."""

from .._adapters import check_framework

check_framework("handfast.crewai", "crewai", least="1.15.30", below="2.0.0", extra="crewai")
